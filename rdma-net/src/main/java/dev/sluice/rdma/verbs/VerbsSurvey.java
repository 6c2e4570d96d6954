// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Reports in words how {@link VerbsProvider} decides: the devices, the reasons against unusable
 * ports, and the port and GID that it takes. The doctor asks for it, on one thread.
 *
 * @param devices devices that can be opened, with their firmware
 * @param excluded devices and ports that the options leave out
 * @param refused devices and ports that cannot be used, each with the reason
 * @param chosen the port, and all values that queue pairs use; empty if no port can be used
 * @param doubt objection to the GID, if its index or its device was configured
 */
public record VerbsSurvey(
    List<String> devices,
    List<String> excluded,
    List<String> refused,
    Optional<String> chosen,
    Optional<String> doubt) {

  /**
   * Opens this machine's devices, chooses a port, and closes the devices.
   *
   * @param localAddress the address by which peers reach this process
   * @throws ProviderUnavailableException if there is no device, or devices cannot be listed
   */
  public static VerbsSurvey of(VerbsOptions options, InetAddress localAddress)
      throws ProviderUnavailableException, VerbsException {
    Sysfs sysfs = new Sysfs(Path.of("/"));
    NumaNode numaNode = new NumaNode(sysfs);
    try (IbvDeviceList list = IbvDeviceList.get();
        OpenPorts open = new OpenPorts(list.devices(), options.devices(), sysfs)) {
      Optional<HostSlot> turn = VerbsProvider.turn(options, list.devices(), numaNode);
      try {
        PortChooser chooser = VerbsProvider.chooser(options, localAddress, turn, numaNode);
        return of(chooser, open, reason -> reason.endsWith(options.devices().refusal()));
      } finally {
        turn.ifPresent(HostSlot::close);
      }
    }
  }

  private static VerbsSurvey of(PortChooser chooser, OpenPorts open, Predicate<String> excluded)
      throws VerbsException {
    List<String> devices = new ArrayList<>();
    for (IbvContext context : open.contexts()) {
      devices.add(words(context));
    }
    Map<Boolean, List<String>> others =
        open.refused().stream().collect(Collectors.partitioningBy(excluded));
    List<String> refused = new ArrayList<>(others.get(false));
    List<PortInfo> usable = new ArrayList<>();
    for (PortInfo port : open.ports()) {
      try {
        chooser.choose(port);
        usable.add(port);
      } catch (PortRefusal e) {
        refused.add(port + " " + e.getMessage());
      }
    }
    Optional<ChosenPort> chosen = chosen(chooser, usable);
    return new VerbsSurvey(
        devices,
        others.get(true),
        refused,
        chosen.map(port -> port.banner() + "; " + chooser.reason(port)),
        chosen.flatMap(chooser::doubt));
  }

  private static Optional<ChosenPort> chosen(PortChooser chooser, List<PortInfo> usable) {
    try {
      return Optional.of(chooser.choose(usable, List.of()));
    } catch (ProviderUnavailableException e) {
      return Optional.empty();
    }
  }

  private static String words(IbvContext context) throws VerbsException {
    IbvDeviceAttr attr = context.queryDevice();
    return "%s, firmware %s, %d port(s)"
        .formatted(context.device(), attr.fwVer(), attr.physPortCnt());
  }
}
