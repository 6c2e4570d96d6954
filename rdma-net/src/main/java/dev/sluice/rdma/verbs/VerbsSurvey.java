package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;
import dev.sluice.rdma.verbs.ibv.IbvDeviceList;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What {@link VerbsProvider} decides by, in words: the devices, what speaks against each port that
 * cannot be used, and the port and GID that it takes.
 *
 * @param devices those that can be opened, with their firmware
 * @param refused devices and ports that cannot be used, each with the reason
 * @param chosen the port, and all that queue pairs use of it; empty where none can be used
 * @param doubt what speaks against the GID, where it was asked for by its index
 */
public record VerbsSurvey(
    List<String> devices, List<String> refused, Optional<String> chosen, Optional<String> doubt) {

  /**
   * Opens this machine's devices, looks, and closes them.
   *
   * @param localAddress the address by which peers reach this process
   * @throws ProviderUnavailableException where there is no device, or none can be looked for
   */
  public static VerbsSurvey of(VerbsOptions options, InetAddress localAddress)
      throws ProviderUnavailableException, VerbsException {
    try (IbvDeviceList list = IbvDeviceList.get();
        OpenPorts open =
            new OpenPorts(list.devices(), options.devices(), new Sysfs(Path.of("/")))) {
      return of(VerbsProvider.chooser(options, localAddress), open);
    }
  }

  private static VerbsSurvey of(PortChooser chooser, OpenPorts open) throws VerbsException {
    List<String> devices = new ArrayList<>();
    for (IbvContext context : open.contexts()) {
      devices.add(words(context));
    }
    List<String> refused = new ArrayList<>(open.refused());
    List<PortInfo> usable = new ArrayList<>();
    for (PortInfo port : open.ports()) {
      try {
        chooser.choose(port);
        usable.add(port);
      } catch (PortRefusal e) {
        refused.add(port + " " + e.getMessage());
      }
    }
    try {
      ChosenPort chosen = chooser.choose(usable, refused);
      String words = chosen.banner() + "; " + chooser.reason(chosen);
      return new VerbsSurvey(devices, refused, Optional.of(words), chooser.doubt(chosen));
    } catch (ProviderUnavailableException e) {
      return new VerbsSurvey(devices, refused, Optional.empty(), Optional.empty());
    }
  }

  private static String words(IbvContext context) throws VerbsException {
    IbvDeviceAttr attr = context.queryDevice();
    return "%s, firmware %s, %d port(s)"
        .formatted(context.device(), attr.fwVer(), attr.physPortCnt());
  }
}
