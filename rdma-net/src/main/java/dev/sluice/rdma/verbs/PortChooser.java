// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Chooses one of the active ports: the one with the local address, else one that shares a network
 * device with it, else the first. Ports with a GID of another network namespace come last, and only
 * if the ports or the GID's index were configured. If processes are to spread over the ports, each
 * takes another one. Only configuration asks for that, as Sluice cannot know whether all ports lead
 * to the same network. Among ports that do, those on the process's own NUMA node come first. {@link
 * VerbsProvider} creates it. The thread that opens a device calls it, and later the thread of the
 * device's events ({@link CurrentPort}). Immutable.
 */
final class PortChooser {
  /** DSCP 26, which common recipes for lossless Ethernet put into a class of its own, and ECN. */
  private static final int ROCE_TRAFFIC_CLASS = 106;

  private static final int FULL_MEMBER = 0x8000;
  private static final int PARTITION_MASK = 0x7FFF;

  private final VerbsOptions options;
  private final OptionalInt turn;
  private final NumaNode numaNode;
  private final String localNetDevice;
  private final GidChooser gids;

  /**
   * @param localAddress the address by which peers reach this process
   * @param localNetDevice the network device with that address; empty if no device has it
   * @param turn number among the processes that spread over the ports; empty if they do not
   * @param numaNode of this process
   */
  PortChooser(
      VerbsOptions options,
      InetAddress localAddress,
      String localNetDevice,
      OptionalInt turn,
      NumaNode numaNode) {
    this.options = options;
    this.numaNode = numaNode;
    this.turn = turn;
    this.localNetDevice = localNetDevice;
    gids = new GidChooser(options.gid(), localAddress, options.spreads());
  }

  /**
   * @param ports that the options allow
   * @param refused reasons why others cannot be used
   * @throws ProviderUnavailableException if no port can be used; gives the reason for each
   */
  ChosenPort choose(List<PortInfo> ports, List<String> refused)
      throws ProviderUnavailableException {
    List<String> skipped = new ArrayList<>(refused);
    List<ChosenPort> usable = new ArrayList<>();
    for (PortInfo port : ports) {
      try {
        usable.add(choose(port));
      } catch (PortRefusal e) {
        skipped.add(port + " " + e.getMessage());
      }
    }
    if (usable.isEmpty()) {
      throw new ProviderUnavailableException(
          "no RDMA port can be used: "
              + (skipped.isEmpty() ? "there is none" : String.join("; ", skipped)));
    }
    List<ChosenPort> own = usable.stream().filter(port -> !port.gid().isForeign()).toList();
    List<ChosenPort> candidates = own.isEmpty() ? usable : own;
    List<ChosenPort> alike = turn.isPresent() ? candidates : best(candidates);
    List<ChosenPort> nearest = numaNode.nearest(alike, candidate -> candidate.port().device());
    return nearest.get(turn.orElse(0) % nearest.size());
  }

  /**
   * Returns the ports of the highest rank. At rank 0 it is the first port only, as nothing shows
   * that the others lead to the same network.
   */
  private List<ChosenPort> best(List<ChosenPort> usable) {
    int highest = usable.stream().mapToInt(this::rank).max().orElseThrow();
    return highest == 0
        ? usable.subList(0, 1)
        : usable.stream().filter(candidate -> rank(candidate) == highest).toList();
  }

  /** Chooses the values that queue pairs use of a port. */
  ChosenPort choose(PortInfo port) throws PortRefusal {
    if (!port.transport().is(IbvDevice.TransportType.IB)) {
      throw new PortRefusal("is neither InfiniBand nor RoCE (" + port.transport() + ")");
    }
    if (!port.state().is(IbvPortAttr.State.ACTIVE)) {
      throw new PortRefusal(Refusal.Kind.NOT_ACTIVE, "is " + port.state() + " and not ACTIVE");
    }
    if (port.linkLayer().known().isEmpty()) {
      throw new PortRefusal("has the unknown link layer " + port.linkLayer());
    }
    int pathMtu = pathMtu(port);
    GidEntry gid = gids.choose(port);
    return new ChosenPort(
        port,
        gid,
        pKeyIndex(port),
        trafficClass(port, gid),
        options.serviceLevel(),
        pathMtu,
        options.hopLimit());
  }

  private int rank(ChosenPort candidate) {
    if (gids.isLocal(candidate.gid())) {
      return 2;
    }
    PortInfo port = candidate.port();
    return !localNetDevice.isEmpty() && port.netDevices().contains(localNetDevice) ? 1 : 0;
  }

  /** Reason for the port and the GID that {@link #choose(List, List)} chose. */
  String reason(ChosenPort chosen) {
    return "port: %s%s; GID: %s"
        .formatted(
            portReason(chosen),
            numaNode.words(chosen.port().device()),
            gids.reason(chosen.port(), chosen.gid()));
  }

  private String portReason(ChosenPort chosen) {
    if (turn.isPresent()) {
      return "by rotation of this host's processes over the configured ports";
    }
    return switch (rank(chosen)) {
      case 2 -> "it has this process's own address";
      case 1 -> "it shares " + localNetDevice + " with this process's own address";
      default -> "the first usable port";
    };
  }

  /** Objection to a GID that was configured; empty if there is none. */
  Optional<String> doubt(ChosenPort chosen) {
    return gids.doubt(chosen.port(), chosen.gid());
  }

  /** Prefers full membership: limited members of a partition cannot reach each other. */
  private int pKeyIndex(PortInfo port) throws PortRefusal {
    int asked = options.pKey();
    IntPredicate full = pKey -> (pKey & FULL_MEMBER) != 0;
    if (asked == VerbsOptions.AUTO) {
      return indexOf(port, full)
          .orElseThrow(() -> new PortRefusal("is a full member of no partition"));
    }
    IntPredicate same = pKey -> (pKey & PARTITION_MASK) == (asked & PARTITION_MASK);
    OptionalInt fullMember = indexOf(port, full.and(same));
    return (fullMember.isPresent() ? fullMember : indexOf(port, same))
        .orElseThrow(() -> new PortRefusal("is not in partition 0x%04x".formatted(asked)));
  }

  private static OptionalInt indexOf(PortInfo port, IntPredicate condition) {
    List<Integer> table = port.pKeys();
    return IntStream.range(0, table.size()).filter(i -> condition.test(table.get(i))).findFirst();
  }

  private int trafficClass(PortInfo port, GidEntry gid) {
    if (options.trafficClass() != VerbsOptions.AUTO) {
      return options.trafficClass();
    }
    return port.trafficClass().orElse(gid.type() == GidEntry.Type.ROCE_V2 ? ROCE_TRAFFIC_CLASS : 0);
  }

  private int pathMtu(PortInfo port) throws PortRefusal {
    int asked = options.pathMtu();
    int active =
        port.activeMtu()
            .known()
            .map(IbvPortAttr.Mtu::bytes)
            .orElseThrow(
                () -> new PortRefusal("has an unknown active MTU, code " + port.activeMtu()));
    return asked == VerbsOptions.AUTO ? active : Math.min(asked, active);
  }

  /**
   * The port that a device was opened with, and the values that its queue pairs use.
   *
   * @param port the port as it was read when it was chosen
   * @param gid the entry of its GID table by which peers reach it
   * @param pKeyIndex index in its table of partition keys
   * @param trafficClass GRH traffic class
   * @param serviceLevel InfiniBand service level
   * @param pathMtu maximum bytes in a packet
   * @param hopLimit GRH hop limit
   */
  record ChosenPort(
      PortInfo port,
      GidEntry gid,
      int pKeyIndex,
      int trafficClass,
      int serviceLevel,
      int pathMtu,
      int hopLimit) {

    /** Returns true if packets take the same way; other attributes may differ. */
    boolean isSameWay(ChosenPort other) {
      return gid.equals(other.gid)
          && pKeyIndex == other.pKeyIndex
          && port.lid() == other.port.lid()
          && pathMtu == other.pathMtu
          && trafficClass == other.trafficClass
          && port.requiresGrh() == other.port.requiresGrh();
    }

    /** Everything that an administrator wants to know about the port, in one line. */
    String banner() {
      return "%s, %s, %s, %s, MTU %d of %d, GID %s (%s), P_Key 0x%04x, traffic class %d, service level %d"
          .formatted(
              port,
              port.state(),
              port.isEthernet() ? "Ethernet" : "InfiniBand",
              port.rate(),
              pathMtu,
              port.activeMtu().known().map(IbvPortAttr.Mtu::bytes).orElseThrow(),
              gid,
              gid.type(),
              port.pKeys().get(pKeyIndex),
              trafficClass,
              serviceLevel);
    }
  }

  /**
   * Reason why a port cannot be used. {@link PortChooser} then tries the next port, {@link
   * CurrentPort} stops connecting, and {@link VerbsSurvey} reports it.
   */
  static final class PortRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final Refusal.Kind kind;

    /**
     * @param reason continues a sentence that begins with the port's name
     */
    PortRefusal(String reason) {
      this(Refusal.Kind.OTHER, reason);
    }

    /**
     * @param reason continues a sentence that begins with the port's name
     */
    PortRefusal(Refusal.Kind kind, String reason) {
      super(reason);
      this.kind = kind;
    }

    Refusal.Kind kind() {
      return kind;
    }
  }
}
