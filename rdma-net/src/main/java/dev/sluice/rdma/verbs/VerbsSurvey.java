// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.PortChooser.PortRefusal;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvDeviceList;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reports in words how {@link VerbsProvider} decides: the devices, the reasons against unusable
 * ports, and the port and GID that it takes. The doctor asks for it, on one thread.
 *
 * @param devices devices that can be opened, with their firmware
 * @param refused devices and ports that cannot be used, or that the options leave out
 * @param chosen the port, and all values that queue pairs use; empty if no port can be used
 * @param doubt objection to the GID, if its index or its device was configured
 */
public record VerbsSurvey(
    List<String> devices, List<Refusal> refused, Optional<String> chosen, Optional<Doubt> doubt) {

  /**
   * Objection to a GID.
   *
   * @param isForeign true if the GID is of another network namespace
   * @param reason continues a sentence that begins with the GID
   */
  public record Doubt(boolean isForeign, String reason) {
    private static Doubt of(String reason) {
      return new Doubt(reason.equals(GidChooser.FOREIGN), reason);
    }
  }

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
        return of(chooser, open);
      } finally {
        turn.ifPresent(HostSlot::close);
      }
    }
  }

  private static VerbsSurvey of(PortChooser chooser, OpenPorts open) throws VerbsException {
    List<String> devices = new ArrayList<>();
    for (IbvContext context : open.contexts()) {
      devices.add(words(context));
    }
    List<Refusal> refused = new ArrayList<>(open.refused());
    List<PortInfo> usable = new ArrayList<>();
    for (PortInfo port : open.ports()) {
      try {
        chooser.choose(port);
        usable.add(port);
      } catch (PortRefusal e) {
        refused.add(new Refusal(port.toString(), e.kind(), String.valueOf(e.getMessage())));
      }
    }
    Optional<ChosenPort> chosen = chosen(chooser, usable);
    return new VerbsSurvey(
        devices,
        refused,
        chosen.map(port -> port.banner() + "; " + chooser.reason(port)),
        chosen.flatMap(chooser::doubt).map(Doubt::of));
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

  /**
   * Device or port that is not used, and the reason. {@link OpenPorts}, {@link PortReader} and
   * {@link VerbsSurvey} make it; the doctor chooses a remedy by its kind. Immutable.
   *
   * @param name name of the device or port
   * @param reason continues a sentence that begins with the name
   */
  public record Refusal(String name, Kind kind, String reason) {
    /** Kinds of reasons, as far as they have different remedies. */
    public enum Kind {
      /** The options leave it out. */
      EXCLUDED,
      /** Its device file is missing, or may not be opened. */
      NOT_OPENED,
      NOT_ACTIVE,
      /** It has no GID, or none that the options allow. */
      NO_GID,
      /** It has a GID, but of another network namespace. */
      FOREIGN_GID,
      OTHER
    }

    /** Returns the sentence. */
    public String words() {
      return name + " " + reason;
    }
  }
}
