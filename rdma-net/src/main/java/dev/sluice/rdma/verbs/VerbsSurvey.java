package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.HostTurn;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;
import dev.sluice.rdma.verbs.ibv.IbvDeviceList;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What {@link VerbsProvider} decides by, in words: the devices, what speaks against each port that
 * cannot be used, and the port and GID that it takes.
 *
 * @param devices those that can be opened, with their firmware
 * @param excluded devices and ports that the options leave out
 * @param refused devices and ports that cannot be used, each with the reason
 * @param chosen the port, and all that queue pairs use of it; empty where none can be used
 * @param doubt what speaks against the GID, where it was asked for by its index
 */
public record VerbsSurvey(
    List<String> devices,
    List<String> excluded,
    List<String> refused,
    Optional<String> chosen,
    Optional<String> doubt) {

  /**
   * Opens this machine's devices, looks, and closes them.
   *
   * @param localAddress the address by which peers reach this process
   * @throws ProviderUnavailableException where there is no device, or none can be looked for
   */
  public static VerbsSurvey of(VerbsOptions options, InetAddress localAddress)
      throws ProviderUnavailableException, VerbsException {
    Sysfs sysfs = new Sysfs(Path.of("/"));
    NumaNode numaNode = new NumaNode(sysfs);
    try (IbvDeviceList list = IbvDeviceList.get();
        OpenPorts open = new OpenPorts(list.devices(), options.devices(), sysfs)) {
      Optional<HostTurn> turn = VerbsProvider.turn(options, list.devices(), numaNode);
      try {
        PortChooser chooser = VerbsProvider.chooser(options, localAddress, turn, numaNode);
        return of(chooser, open, reason -> reason.endsWith(options.devices().refusal()));
      } finally {
        turn.ifPresent(HostTurn::close);
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
