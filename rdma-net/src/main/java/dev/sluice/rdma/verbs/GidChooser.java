package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.verbs.GidPolicy.Family;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Chooses an entry of a port's GID table, by the rules that NCCL and UCX have: on InfiniBand the
 * default entry, on Ethernet one of the wanted version of RoCE, IPv4 first.
 */
final class GidChooser {
  private static final int DEFAULT_INDEX = 0;

  /** Where a subnet manager puts the GID that is valid beyond the subnet. */
  private static final int ROUTABLE_INDEX = 1;

  private final GidPolicy policy;
  private final Gid localGid;

  /**
   * @param localAddress the entry that carries it is preferred
   */
  GidChooser(GidPolicy policy, InetAddress localAddress) {
    this.policy = policy;
    this.localGid = Gid.of(localAddress);
  }

  GidEntry choose(PortInfo port) throws PortRefusal {
    if (policy.index() != VerbsOptions.AUTO) {
      return at(port, policy.index());
    }
    return port.isEthernet() ? best(port) : infiniBand(port);
  }

  boolean isLocal(GidEntry entry) {
    return entry.gid().equals(localGid);
  }

  /** Why the entry that {@link #choose} gave was chosen. */
  String reason(PortInfo port, GidEntry entry) {
    if (policy.index() != VerbsOptions.AUTO) {
      return "asked for by its index";
    }
    if (!port.isEthernet()) {
      return entry.index() == ROUTABLE_INDEX ? "the routable one" : "the default one";
    }
    return isLocal(entry)
        ? "this process's own address"
        : "the first of RoCE v%d that may be used, IPv4 before IPv6"
            .formatted(policy.roceVersion());
  }

  /** Why an entry that was asked for by its index would not be chosen; empty where it may be. */
  Optional<String> doubt(PortInfo port, GidEntry entry) {
    return port.isEthernet() && policy.index() != VerbsOptions.AUTO
        ? Optional.ofNullable(problem(entry))
        : Optional.empty();
  }

  private static GidEntry at(PortInfo port, int index) throws PortRefusal {
    return port.gids().stream()
        .filter(entry -> entry.index() == index)
        .findFirst()
        .orElseThrow(() -> new PortRefusal("has no GID at index " + index));
  }

  private static GidEntry infiniBand(PortInfo port) throws PortRefusal {
    for (GidEntry entry : port.gids()) {
      if (entry.index() == ROUTABLE_INDEX && GidEntry.fabricIdentifier(entry.gid()) != 0) {
        return entry;
      }
    }
    return at(port, DEFAULT_INDEX);
  }

  private GidEntry best(PortInfo port) throws PortRefusal {
    List<String> skipped = new ArrayList<>();
    GidEntry best = null;
    for (GidEntry entry : port.gids()) {
      String problem = problem(entry);
      if (problem != null) {
        skipped.add(entry + " is " + problem);
      } else if (best == null || rank(entry) > rank(best)) {
        best = entry;
      }
    }
    if (best == null) {
      throw new PortRefusal(
          skipped.isEmpty()
              ? "has no GID, so its network device has no address"
              : "has no suitable GID: " + String.join(", ", skipped));
    }
    return best;
  }

  /** Why the entry cannot be used; null if it can. */
  private String problem(GidEntry entry) {
    GidEntry.Type wanted =
        policy.roceVersion() == 2 ? GidEntry.Type.ROCE_V2 : GidEntry.Type.ROCE_V1;
    Family family = entry.gid().isIpv4() ? Family.IPV4 : Family.IPV6;
    if (entry.type() != wanted) {
      return entry.type() + " and not " + wanted;
    }
    if (entry.isLinkLocal()) {
      return "link-local";
    }
    if (policy.family() != Family.AUTO && policy.family() != family) {
      return "not " + policy.family();
    }
    if (policy.range() != null && !policy.range().contains(entry.address())) {
      return "not in " + policy.range();
    }
    return null;
  }

  private int rank(GidEntry entry) {
    return isLocal(entry) ? 2 : entry.gid().isIpv4() ? 1 : 0;
  }
}
