package dev.sluice.rdma.tools;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CValue;
import dev.sluice.rdma.verbs.ibv.IbvAhAttr;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDevice;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;
import dev.sluice.rdma.verbs.ibv.IbvDeviceList;
import dev.sluice.rdma.verbs.ibv.IbvGidEntry;
import dev.sluice.rdma.verbs.ibv.IbvGidType;
import dev.sluice.rdma.verbs.ibv.IbvLinkLayer;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvPortAttr;
import dev.sluice.rdma.verbs.ibv.IbvPortFlags;
import dev.sluice.rdma.verbs.ibv.IbvPortState;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * An active port of a device, and the GID by which peers reach it. Closing it closes the device and
 * all that was made of it.
 */
final class LocalPort implements AutoCloseable {
  private static final int NO_GID = -1;

  /** Routers that a packet may pass. */
  private static final int HOP_LIMIT = 64;

  private final IbvContext context;
  private final int number;
  private final int serviceLevel;
  private final IbvPortAttr attributes;
  private final int gidIndex;
  private final Gid gid;

  private LocalPort(IbvContext context, int number, Integer gidIndex, int serviceLevel)
      throws IOException {
    this.context = context;
    this.number = number;
    this.serviceLevel = serviceLevel;
    attributes = context.queryPort(number);
    if (!attributes.state().is(IbvPortState.ACTIVE)) {
      throw new IOException(this + " is not active but " + attributes.stateText());
    }
    this.gidIndex = gidIndex == null ? defaultGidIndex() : gidIndex;
    gid = this.gidIndex == NO_GID ? new Gid(0, 0) : context.queryGid(number, this.gidIndex);
  }

  /**
   * @param device null for the first one
   * @param gidIndex null for the one that suits RoCE best, and on InfiniBand for none where the
   *     port can do without
   */
  static LocalPort open(String device, int port, Integer gidIndex, int serviceLevel)
      throws IOException {
    IbvContext context = openDevice(device);
    try {
      return new LocalPort(context, port, gidIndex, serviceLevel);
    } catch (IOException | RuntimeException e) {
      context.close();
      throw e;
    }
  }

  /**
   * @param name null for the first device
   */
  static IbvContext openDevice(String name) throws IOException {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      if (list.devices().isEmpty()) {
        throw new IOException("there is no RDMA device");
      }
      IbvDevice device =
          name == null
              ? list.devices().getFirst()
              : list.find(name)
                  .orElseThrow(
                      () ->
                          new IOException(
                              "there is no RDMA device " + name + ", only " + list.devices()));
      return device.open();
    }
  }

  private int defaultGidIndex() throws IOException {
    if (!attributes.linkLayer().is(IbvLinkLayer.ETHERNET)) {
      return (attributes.flags() & IbvPortFlags.GRH_REQUIRED) == 0 ? NO_GID : 0;
    }
    List<IbvGidEntry> table = context.queryGidTable(Gids.capacity(context));
    return table.stream()
        .filter(entry -> entry.port() == number)
        .min(Comparator.comparingInt(LocalPort::rank).thenComparingInt(IbvGidEntry::index))
        .orElseThrow(() -> new IOException(this + " has no GID: its net device has no address"))
        .index();
  }

  private static int rank(IbvGidEntry entry) {
    if (!entry.type().is(IbvGidType.ROCE_V2)) {
      return 2;
    }
    return entry.gid().isIpv4() ? 0 : 1;
  }

  IbvContext context() {
    return context;
  }

  /** From 1. */
  int number() {
    return number;
  }

  IbvMtu activeMtu() throws IOException {
    CValue<IbvMtu> mtu = attributes.activeMtu();
    return mtu.known()
        .orElseThrow(() -> new IOException(this + " has an MTU that is not known, code " + mtu));
  }

  /**
   * The path MTU for a number of bytes.
   *
   * @throws IOException if the port has a smaller one
   */
  IbvMtu mtu(int bytes) throws IOException {
    IbvMtu mtu =
        Arrays.stream(IbvMtu.values())
            .filter(candidate -> candidate.bytes() == bytes)
            .findAny()
            .orElseThrow(
                () ->
                    new IOException(
                        bytes + " is not a path MTU: 256, 512, 1024, 2048 or 4096 bytes"));
    if (mtu.compareTo(activeMtu()) > 0) {
      throw new IOException(this + " has an MTU of " + activeMtu().bytes() + " bytes only");
    }
    return mtu;
  }

  /** READs that the device has under way, and serves, at a time on a queue pair. */
  int maxReadsInFlight() throws IOException {
    IbvDeviceAttr device = context.queryDevice();
    int most = Math.min(device.maxQpInitRdAtom(), device.maxQpRdAtom());
    return Math.min(most, 255); // The attribute of a queue pair has eight bits.
  }

  IbvPortAttr attributes() {
    return attributes;
  }

  /** Our address, for a queue pair of ours. */
  QpAddress address(int qpNumber, int psn) {
    return new QpAddress(attributes.lid(), qpNumber, psn, gid);
  }

  /**
   * The way to a peer.
   *
   * @throws IOException if either side has no GID on RoCE
   */
  IbvAhAttr pathTo(QpAddress peer) throws IOException {
    boolean global = peer.gid().interfaceId() != 0;
    if (!global && attributes.linkLayer().is(IbvLinkLayer.ETHERNET)) {
      throw new IOException("the peer sent no GID, which RoCE needs: start it with its option -g");
    }
    return IbvAhAttr.ZERO.with(
        ah -> {
          ah.global = global;
          ah.dgid = peer.gid();
          ah.sgidIndex = Math.max(gidIndex, 0);
          ah.hopLimit = HOP_LIMIT;
          ah.dlid = peer.lid();
          ah.serviceLevel = serviceLevel;
          ah.port = number;
        });
  }

  @Override
  public void close() throws VerbsException {
    context.close();
  }

  @Override
  public String toString() {
    return "port " + number + " of " + context.device();
  }
}
