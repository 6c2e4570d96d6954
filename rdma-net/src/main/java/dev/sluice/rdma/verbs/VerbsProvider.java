package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDevice;
import dev.sluice.rdma.verbs.ibv.IbvDeviceList;
import dev.sluice.rdma.verbs.ibv.IbvFork;
import dev.sluice.rdma.verbs.ibv.IbvForkStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA by libibverbs: chooses a port of this machine's devices and opens its device. What keeps it
 * from working is a {@link ProviderUnavailableException} that says what to do. Any thread.
 */
public final class VerbsProvider implements Provider {
  public static final String NAME = "verbs";

  private static final Logger LOG = LoggerFactory.getLogger(VerbsProvider.class);

  private final VerbsOptions options;
  private final Sysfs sysfs;

  public VerbsProvider(VerbsOptions options) {
    this(options, Path.of("/"));
  }

  /**
   * @param root a directory that has {@code sys}: {@code /}, or another one for devices that the
   *     kernel does not know of
   */
  public VerbsProvider(VerbsOptions options, Path root) {
    this.options = options;
    this.sysfs = new Sysfs(root);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Device open(InetAddress localAddress) throws IOException {
    if (sysfs.isWithoutRdma()) {
      // Asking the library takes a tenth of a second, most of it for linking native functions.
      throw IbvDeviceList.noRdma("there is no /sys/class/infiniband");
    }
    LockedMemory lockedMemory = LockedMemory.current();
    lockedMemory.require(options.registeredBytes());
    initFork();
    try (IbvDeviceList list = IbvDeviceList.get()) {
      return open(list.devices(), localAddress, lockedMemory);
    } catch (VerbsException e) {
      throw new ProviderUnavailableException(e.getMessage());
    }
  }

  /** Spark forks Python workers, whose copies of registered pages must not become the parent's. */
  private static void initFork() throws ProviderUnavailableException {
    try {
      if (!kernelCopiesForChildren()) {
        IbvFork.init();
      }
    } catch (VerbsException e) {
      LOG.warn(
          "Memory that is registered may go wrong when this process forks: {}", e.getMessage());
    }
  }

  /** Then the library's own marks would only cost mappings, of which there is a limit. */
  private static boolean kernelCopiesForChildren() throws ProviderUnavailableException {
    try {
      return IbvFork.status() == IbvForkStatus.UNNEEDED;
    } catch (VerbsException e) {
      return false; // an rdma-core that cannot tell
    }
  }

  private Device open(List<IbvDevice> devices, InetAddress localAddress, LockedMemory lockedMemory)
      throws IOException {
    Map<String, IbvContext> contexts = new LinkedHashMap<>();
    try {
      PortChooser chooser = new PortChooser(options, localAddress, netDevice(localAddress));
      ChosenPort chosen = choose(devices, chooser, contexts);
      IbvContext context = contexts.remove(chosen.port().device());
      CurrentPort port = new CurrentPort(new PortReader(context, sysfs), chooser, chosen);
      VerbsDevice device = VerbsDevice.open(context, port, localAddress, options);
      LOG.info("RDMA by verbs: {}, {}", chosen.banner(), lockedMemory);
      return device;
    } finally {
      contexts.values().forEach(VerbsProvider::close);
    }
  }

  private static void close(IbvContext unused) {
    try {
      unused.close();
    } catch (VerbsException e) {
      LOG.warn("Closing {}, which is not used, failed: {}", unused.device(), e.getMessage());
    }
  }

  private String noDevice() {
    List<String> known = sysfs.devices();
    return known.isEmpty()
        ? "this machine has no RDMA device"
        : "libibverbs does not find the device "
            + String.join(", ", known)
            + ": its file in /dev/infiniband must be in this container, and its library installed"
            + " (Debian, Ubuntu: ibverbs-providers)";
  }

  /**
   * @param contexts takes the devices that were opened, by name
   */
  private ChosenPort choose(
      List<IbvDevice> devices, PortChooser chooser, Map<String, IbvContext> contexts)
      throws ProviderUnavailableException {
    List<PortInfo> ports = new ArrayList<>();
    List<String> refused = new ArrayList<>();
    if (devices.isEmpty()) {
      throw new ProviderUnavailableException(noDevice());
    }
    for (IbvDevice device : devices) {
      if (!options.devices().matchesSome(device.name())) {
        refused.add(device + options.devices().refusal());
        continue;
      }
      try {
        IbvContext context = device.open();
        contexts.put(device.name(), context);
        ports.addAll(new PortReader(context, sysfs).read(options.devices(), refused));
      } catch (VerbsException e) {
        refused.add(unreadable(device, e));
      }
    }
    return chooser.choose(ports, refused);
  }

  /** By the device's file, as libibverbs does not tell one error of opening it from another. */
  private static String unreadable(IbvDevice device, VerbsException e) {
    Path node = Path.of("/dev/infiniband", device.uverbsName());
    if (!Files.exists(node)) {
      return device + " cannot be opened: " + node + " is not there, as in a container without it";
    }
    if (!Files.isReadable(node) || !Files.isWritable(node)) {
      return device + " cannot be opened: this process may not read and write " + node;
    }
    return device + " cannot be used: " + e.getMessage();
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
