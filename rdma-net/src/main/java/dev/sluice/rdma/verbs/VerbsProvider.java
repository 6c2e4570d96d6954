// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvFork;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides RDMA by libibverbs: chooses a port of this machine's devices and opens its device. If
 * that is impossible, a {@link ProviderUnavailableException} tells the user what to do. {@code
 * Providers} and the doctor create it; the caller of {@link #open} closes the device. Any thread.
 */
public final class VerbsProvider implements Provider {
  public static final String NAME = "verbs";

  private static final Logger LOG = LoggerFactory.getLogger(VerbsProvider.class);

  private final VerbsOptions options;
  private final Sysfs sysfs;
  private final Function<String, ThreadFactory> threads;

  public VerbsProvider(VerbsOptions options) {
    this(options, Path.of("/"));
  }

  /**
   * @param root a directory that contains {@code sys}: {@code /}, or another one for devices that
   *     the kernel does not have
   */
  public VerbsProvider(VerbsOptions options, Path root) {
    this(options, root, DaemonThreads::named);
  }

  /**
   * @param threads returns a factory of threads with a name
   */
  VerbsProvider(VerbsOptions options, Path root, Function<String, ThreadFactory> threads) {
    this.options = options;
    this.sysfs = new Sysfs(root);
    this.threads = threads;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Device open(InetAddress localAddress) throws IOException {
    if (sysfs.isWithoutRdma()) {
      // Asking the library takes 0.1 s, most of it for linking native functions.
      throw IbvDeviceList.noRdma("there is no /sys/class/infiniband");
    }
    LockedMemory.current().require(options.registeredBytes());
    initFork();
    try (IbvDeviceList list = IbvDeviceList.get()) {
      return open(list.devices(), localAddress);
    } catch (VerbsException e) {
      throw new ProviderUnavailableException(e.getMessage());
    }
  }

  /**
   * Protects registered pages at forks, as Spark forks Python workers: the parent must keep the
   * pages, and its children must get the copies.
   */
  private static void initFork() throws ProviderUnavailableException {
    try {
      if (!kernelCopiesForChildren()) {
        IbvFork.init();
      }
    } catch (VerbsException e) {
      LOG.warn(
          "Protecting registered memory at forks failed; its bytes may be wrong after a fork: {}",
          e.getMessage());
    }
  }

  /**
   * Returns true if the kernel itself copies registered pages at a fork. The library's marks would
   * then only cost mappings, of which there is a limit.
   */
  private static boolean kernelCopiesForChildren() throws ProviderUnavailableException {
    try {
      return IbvFork.status().is(IbvFork.Status.UNNEEDED);
    } catch (VerbsException e) {
      return false; // an rdma-core that cannot tell
    }
  }

  private Device open(List<IbvDevice> devices, InetAddress localAddress) throws IOException {
    NumaNode numaNode = new NumaNode(sysfs);
    Optional<HostSlot> turn = turn(options, devices, numaNode);
    try {
      return open(devices, localAddress, turn, numaNode);
    } catch (IOException | RuntimeException | Error e) {
      turn.ifPresent(HostSlot::close);
      throw e;
    }
  }

  private VerbsDevice open(
      List<IbvDevice> devices, InetAddress localAddress, Optional<HostSlot> turn, NumaNode numaNode)
      throws IOException {
    try (OpenPorts open = new OpenPorts(devices, options.devices(), sysfs)) {
      PortChooser chooser = chooser(options, localAddress, turn, numaNode);
      ChosenPort chosen =
          chooser.choose(open.ports(), open.refused().stream().map(Refusal::words).toList());
      IbvContext context = open.take(chosen.port().device());
      CurrentPort port = new CurrentPort(new PortReader(context, sysfs), chooser, chosen);
      VerbsDevice device = VerbsDevice.open(context, port, localAddress, options, turn, threads);
      LOG.info("RDMA by verbs: {}, {}", chosen.banner(), LockedMemory.current());
      chooser
          .doubt(chosen)
          .ifPresent(
              doubt ->
                  LOG.warn(
                      "Using GID {} of {} although it is {}, because the key devices or"
                          + " gid.index names it",
                      chosen.gid(),
                      chosen.port(),
                      doubt));
      return device;
    }
  }

  /**
   * Takes this process's number among the processes of this host that spread over the same devices.
   * Empty if processes do not spread. The caller closes it.
   */
  static Optional<HostSlot> turn(VerbsOptions options, List<IbvDevice> devices, NumaNode numaNode) {
    if (!options.spreads()) {
      return Optional.empty();
    }
    try {
      List<String> wanted =
          devices.stream().map(IbvDevice::name).filter(options.devices()::matchesSome).toList();
      List<String> nearest = numaNode.nearest(wanted, name -> name);
      // Hashed, as the names may be too long for the name of a socket.
      return Optional.of(HostSlot.take("port-" + Integer.toHexString(nearest.hashCode())));
    } catch (VerbsException e) {
      LOG.warn(
          "Processes do not rotate over the ports; each takes the nearest one: {}", e.getMessage());
      return Optional.empty();
    }
  }

  /** Creates the chooser for a process that peers reach by this address. */
  static PortChooser chooser(
      VerbsOptions options, InetAddress localAddress, Optional<HostSlot> turn, NumaNode numaNode) {
    OptionalInt number = turn.stream().mapToInt(HostSlot::number).findFirst();
    return new PortChooser(options, localAddress, netDevice(localAddress), number, numaNode);
  }

  private static String netDevice(InetAddress address) {
    try {
      NetworkInterface device = NetworkInterface.getByInetAddress(address);
      return device == null ? "" : device.getName();
    } catch (SocketException e) {
      return "";
    }
  }
}
