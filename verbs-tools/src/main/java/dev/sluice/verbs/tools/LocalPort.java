// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.RcExample;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.LocalNetDevices;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvGidEntry;
import dev.sluice.verbs.ibv.IbvPortAttr;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * An active port of a device, and the GID by which peers reach it. Takes queue pairs from RESET to
 * RTS with the attributes that ibv_modify_qp(3) requires and the values of the C programs. A
 * command opens it, uses it on its thread, and closes it after the TCP connections to peers.
 * Closing the port closes the device and all objects that were created in it. The arena of
 * registered memory must be closed later.
 */
final class LocalPort implements AutoCloseable {
  /** Q_Key of the datagram programs. */
  static final int QKEY = 0x11111111;

  private static final int NO_GID = -1;

  /** Maximum number of routers that a packet may pass. */
  private static final int HOP_LIMIT = 64;

  /** Code of 0.64 ms in the table of ibv_modify_qp(3). */
  private static final int MIN_RNR_TIMER = 12;

  /** Code of 67 ms: 4.096 us x 2^14. */
  private static final int TIMEOUT = 14;

  /** The maximum; without a receive at the peer (RNR), it means to retry for ever. */
  private static final int RETRIES = 7;

  private static final int PSN_BITS = 24;

  private final IbvContext context;
  private final int number;
  private final int serviceLevel;
  private final IbvPortAttr attributes;
  private final int gidIndex;
  private final Gid gid;

  /**
   * A queue pair of a port, and its address. {@link PerfEndpoint}, {@link PingPong} and {@link
   * XsrqPingPongCommand} get it from {@link #toInit}. Closing the port closes it.
   */
  record Qp(LocalPort port, IbvQp qp, QpAddress address) {
    /**
     * Takes the queue pair to RTS.
     *
     * @param remote ignored for datagrams, each of which has its own destination
     * @param readsInFlight number of READs and atomics in flight on either side; only for RC and
     *     XRC
     */
    void connect(QpAddress remote, IbvPortAttr.Mtu mtu, int readsInFlight) throws IOException {
      IbvQp.Type type = qp.type().known().orElseThrow();
      boolean receives = type == IbvQp.Type.RC || type == IbvQp.Type.XRC_RECV;
      boolean sends = type == IbvQp.Type.RC || type == IbvQp.Type.XRC_SEND;
      IbvQpAttr rtr = new IbvQpAttr().state(IbvQp.State.RTR);
      IbvQpAttr rts = new IbvQpAttr().state(IbvQp.State.RTS).sqPsn(address.psn());
      if (type != IbvQp.Type.UD) {
        rtr.pathMtu(mtu).destQpNum(remote.qpNumber()).rqPsn(remote.psn());
        rtr.addressVector(port.pathTo(remote));
      }
      if (receives) {
        rtr.maxDestRdAtomic(readsInFlight).minRnrTimer(MIN_RNR_TIMER);
      }
      if (receives || sends) {
        rts.timeout(TIMEOUT);
      }
      if (sends) {
        rts.retryCnt(RETRIES).rnrRetry(RETRIES).maxRdAtomic(readsInFlight);
      }
      qp.modify(rtr);
      qp.modify(rts);
    }
  }

  /**
   * Opens a port; the caller closes it.
   *
   * @param device null for the first device
   * @param number from 1
   * @param gidIndex null to choose: the GID that suits RoCE best; none if InfiniBand works without
   */
  LocalPort(@Nullable String device, int number, @Nullable Integer gidIndex, int serviceLevel)
      throws IOException {
    this.number = number;
    this.serviceLevel = serviceLevel;
    context = RcExample.open(device);
    try {
      attributes = context.queryPort(number);
      if (!attributes.state().is(IbvPortAttr.State.ACTIVE)) {
        throw new IOException(this + " is " + attributes.stateText() + ", not active");
      }
      this.gidIndex = gidIndex == null ? defaultGidIndex() : gidIndex;
      gid = this.gidIndex == NO_GID ? new Gid(0, 0) : context.queryGid(number, this.gidIndex);
    } catch (IOException | RuntimeException | Error e) {
      context.close();
      throw e;
    }
  }

  /** Returns the GIDs of a port. */
  static List<IbvGidEntry> gids(IbvContext context, int port) throws VerbsException {
    int entries = 0; // of all ports, since they share a table
    for (int each = 1; each <= context.queryDevice().physPortCnt(); each++) {
      entries += context.queryPort(each).gidTblLen();
    }
    return context.queryGidTable(entries).stream().filter(gid -> gid.port() == port).toList();
  }

  private int defaultGidIndex() throws IOException {
    if (!attributes.linkLayer().is(IbvPortAttr.LinkLayer.ETHERNET)) {
      return (attributes.flags() & IbvPortAttr.Flags.GRH_REQUIRED) == 0 ? NO_GID : 0;
    }
    LocalNetDevices local = LocalNetDevices.read(Path.of("/"));
    List<IbvGidEntry> table = gids(context, number);
    if (table.isEmpty()) {
      throw new IOException(this + " has no GID: its net device has no address");
    }
    return table.stream()
        .filter(entry -> isLocal(entry, local))
        .min(Comparator.comparingInt(LocalPort::rank).thenComparingInt(IbvGidEntry::index))
        .orElseThrow(
            () ->
                new IOException(
                    this
                        + " has GIDs of other network namespaces only;"
                        + " choose one with --gid-index if it reaches the peer"))
        .index();
  }

  /** True unless the GID's network device belongs to another network namespace. */
  private static boolean isLocal(IbvGidEntry entry, LocalNetDevices local) {
    int index = entry.interfaceIndex();
    return index == 0
        || local
            .withAddress(entry.gid().toInetAddress(), device -> device.index() == index)
            .isPresent();
  }

  private static int rank(IbvGidEntry entry) {
    if (!entry.type().is(IbvGidEntry.Type.ROCE_V2)) {
      return 2;
    }
    return entry.gid().isIpv4() ? 0 : 1;
  }

  IbvContext context() {
    return context;
  }

  IbvPortAttr.Mtu activeMtu() throws IOException {
    CValue<IbvPortAttr.Mtu> mtu = attributes.activeMtu();
    return mtu.known()
        .orElseThrow(() -> new IOException(this + " has an unknown MTU, code " + mtu));
  }

  /** Returns the path MTU of a number of bytes. Throws if the port's MTU is smaller. */
  IbvPortAttr.Mtu mtu(int bytes) throws IOException {
    IbvPortAttr.Mtu mtu =
        Arrays.stream(IbvPortAttr.Mtu.values())
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

  /** Number of READs that the device can both issue and serve at once per queue pair. */
  int maxReadsInFlight() throws IOException {
    IbvDeviceAttr device = context.queryDevice();
    int most = Math.min(device.maxQpInitRdAtom(), device.maxQpRdAtom());
    return Math.min(most, 255); // The queue pair's attribute has eight bits.
  }

  /** Returns a random initial packet sequence number. */
  static int newPsn() {
    return ThreadLocalRandom.current().nextInt(1 << PSN_BITS);
  }

  /**
   * Takes a new queue pair to INIT. {@link Qp#connect} follows once the peer's address is known.
   *
   * @param psn number of the first packet that this side sends
   * @param access rights of peers, of {@link dev.sluice.verbs.ibv.IbvMr.Access}
   */
  Qp toInit(IbvQp qp, int psn, int access) throws VerbsException {
    IbvQpAttr attr = new IbvQpAttr().state(IbvQp.State.INIT).port(number).pkeyIndex(0);
    qp.modify(qp.type().is(IbvQp.Type.UD) ? attr.qkey(QKEY) : attr.accessFlags(access));
    return new Qp(this, qp, address(qp.qpNum(), psn));
  }

  /** Returns the address of a local queue pair. */
  QpAddress address(int qpNumber, int psn) {
    return new QpAddress(attributes.lid(), qpNumber, psn, gid);
  }

  /** Returns the local end of a path: port, GID, hop limit and service level. */
  IbvAhAttr path() {
    return IbvAhAttr.ZERO.with(
        ah -> {
          ah.global = gidIndex != NO_GID;
          ah.sgidIndex = Math.max(gidIndex, 0);
          ah.hopLimit = HOP_LIMIT;
          ah.serviceLevel = serviceLevel;
          ah.port = number;
        });
  }

  /** Returns the path to a peer. Throws if the peer has no GID on RoCE. */
  IbvAhAttr pathTo(QpAddress peer) throws IOException {
    boolean global = peer.gid().interfaceId() != 0;
    if (!global && attributes.linkLayer().is(IbvPortAttr.LinkLayer.ETHERNET)) {
      throw new IOException("the peer sent no GID, which RoCE needs: start it with its option -g");
    }
    return path()
        .with(
            ah -> {
              ah.global = global;
              ah.dgid = peer.gid();
              ah.dlid = peer.lid();
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
