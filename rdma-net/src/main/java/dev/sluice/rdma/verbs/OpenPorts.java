// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the devices that a process may use and reads their ports, so that one can be chosen. {@link
 * VerbsProvider} or {@link VerbsSurvey} creates, uses and closes it on one thread. Closing it
 * closes all devices except the one that was taken.
 */
final class OpenPorts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenPorts.class);

  private final Map<String, IbvContext> contexts = new LinkedHashMap<>();
  private final List<PortInfo> ports = new ArrayList<>();
  private final List<Refusal> refused = new ArrayList<>();

  /**
   * Opens the devices that the options allow.
   *
   * @throws ProviderUnavailableException if the machine has no device at all
   */
  OpenPorts(List<IbvDevice> devices, DeviceFilter wanted, Sysfs sysfs)
      throws ProviderUnavailableException {
    if (devices.isEmpty()) {
      throw new ProviderUnavailableException(noDevice(sysfs));
    }
    try {
      for (IbvDevice device : devices) {
        if (wanted.matchesSome(device.name())) {
          open(device, wanted, sysfs);
        } else {
          refused.add(new Refusal(device.name(), Refusal.Kind.EXCLUDED, wanted.refusal()));
        }
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void open(IbvDevice device, DeviceFilter wanted, Sysfs sysfs) {
    try {
      IbvContext context = device.open();
      contexts.put(device.name(), context);
      ports.addAll(new PortReader(context, sysfs).read(wanted, refused));
    } catch (VerbsException e) {
      refused.add(unreadable(device, e));
    }
  }

  private static String noDevice(Sysfs sysfs) {
    List<String> known = sysfs.devices();
    return known.isEmpty()
        ? "this machine has no RDMA device"
        : "libibverbs does not find the device "
            + String.join(", ", known)
            + ": pass its file in /dev/infiniband into the container, and install its library"
            + " (Debian, Ubuntu: ibverbs-providers)";
  }

  /** Finds the reason by the device's file: libibverbs reports the same error for all causes. */
  private static Refusal unreadable(IbvDevice device, VerbsException e) {
    Path node = Path.of("/dev/infiniband", device.uverbsName());
    if (!Files.exists(node)) {
      return notOpened(device, node + " does not exist (in a container, pass it in)");
    }
    if (!Files.isReadable(node) || !Files.isWritable(node)) {
      return notOpened(device, "this process may not read and write " + node);
    }
    return new Refusal(device.name(), Refusal.Kind.OTHER, "cannot be used: " + e.getMessage());
  }

  private static Refusal notOpened(IbvDevice device, String why) {
    return new Refusal(device.name(), Refusal.Kind.NOT_OPENED, "cannot be opened: " + why);
  }

  /** Ports of all devices that could be opened. */
  List<PortInfo> ports() {
    return List.copyOf(ports);
  }

  /** Other devices and ports, which cannot be used. */
  List<Refusal> refused() {
    return List.copyOf(refused);
  }

  Iterable<IbvContext> contexts() {
    return List.copyOf(contexts.values());
  }

  /** Hands the device over to the caller, which closes it. */
  IbvContext take(String device) {
    return requireNonNull(contexts.remove(device));
  }

  @Override
  public void close() {
    for (IbvContext unused : contexts.values()) {
      try {
        unused.close();
      } catch (VerbsException e) {
        LOG.warn("Closing the unused device {} failed: {}", unused.device(), e.getMessage());
      }
    }
  }
}
