package dev.sluice.rdma.verbs;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvPortState;
import dev.sluice.rdma.verbs.ibv.IbvTransportType;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Chooses the port to use of those that are active: the one with the local address, else one that
 * shares a network device with it, else the first. Where processes are to spread, each takes
 * another one: only whoever configures that can know that they all lead to the same network. Of
 * several that do, those on the process's own NUMA node come first.
 */
final class PortChooser {
  /** DSCP 26, which common recipes for lossless Ethernet put into a class of its own; ECN on. */
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
   * @param localNetDevice the network device that has it; empty where none has
   * @param turn a number among those of the processes that are to spread over the ports
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
    gids = new GidChooser(options.gid(), localAddress);
  }

  /**
   * @param ports those that the options allow
   * @param refused why others cannot be used
   * @throws ProviderUnavailableException when none can be used; says why of each
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
    List<ChosenPort> alike = turn.isPresent() ? usable : best(usable);
    List<ChosenPort> nearest = numaNode.nearest(alike, candidate -> candidate.port().device());
    return nearest.get(turn.orElse(0) % nearest.size());
  }

  /** Those of the highest rank; one, where nothing says that others lead to the same network. */
  private List<ChosenPort> best(List<ChosenPort> usable) {
    int highest = usable.stream().mapToInt(this::rank).max().orElseThrow();
    return highest == 0
        ? usable.subList(0, 1)
        : usable.stream().filter(candidate -> rank(candidate) == highest).toList();
  }

  /** What to use of a port. */
  ChosenPort choose(PortInfo port) throws PortRefusal {
    if (!port.transport().is(IbvTransportType.IB)) {
      throw new PortRefusal("is neither InfiniBand nor RoCE (" + port.transport() + ")");
    }
    if (!port.state().is(IbvPortState.ACTIVE)) {
      throw new PortRefusal("is " + port.state() + " and not ACTIVE");
    }
    if (port.linkLayer().known().isEmpty()) {
      throw new PortRefusal("has a link layer that is not known, " + port.linkLayer());
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

  /** Why the port and the GID that {@link #choose(List, List)} gave were chosen. */
  String reason(ChosenPort chosen) {
    return "port: %s%s; GID: %s"
        .formatted(
            portReason(chosen),
            numaNode.words(chosen.port().device()),
            gids.reason(chosen.port(), chosen.gid()));
  }

  private String portReason(ChosenPort chosen) {
    if (turn.isPresent()) {
      return "in turn with the other executors of this host, of those that are named";
    }
    return switch (rank(chosen)) {
      case 2 -> "it has this process's own address";
      case 1 -> "it shares " + localNetDevice + " with this process's own address";
      default -> "the first that can be used";
    };
  }

  /** What speaks against the chosen GID, which was asked for by its index; empty for nothing. */
  Optional<String> doubt(ChosenPort chosen) {
    return gids.doubt(chosen.port(), chosen.gid());
  }

  /** Limited members of a partition do not reach each other, so full membership comes first. */
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
            .map(IbvMtu::bytes)
            .orElseThrow(
                () ->
                    new PortRefusal(
                        "has an active MTU that is not known, code " + port.activeMtu()));
    return asked == VerbsOptions.AUTO ? active : Math.min(asked, active);
  }
}
