// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.GidPolicy.Family;
import dev.sluice.rdma.verbs.PortChooser.PortRefusal;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import dev.sluice.verbs.Gid;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses an entry of a port's GID table by the rules of NCCL and UCX. On InfiniBand it is the
 * default entry, on Ethernet an entry of the wanted RoCE version, IPv4 first. The {@link
 * PortChooser} has one. Immutable; any thread.
 */
final class GidChooser {
  private static final int DEFAULT_INDEX = 0;

  /** Reason against an entry, or a doubt about it. */
  static final String FOREIGN =
      "of another network namespace: no network device of this process has the address";

  /** Index at which a subnet manager puts the GID that is valid beyond the subnet. */
  private static final int ROUTABLE_INDEX = 1;

  private final GidPolicy policy;
  private final Gid localGid;
  private final boolean takesForeign;

  /**
   * @param localAddress the entry with this address is preferred
   * @param takesForeign true if entries of another network namespace may be taken, for a port
   *     without other suitable entries
   */
  GidChooser(GidPolicy policy, InetAddress localAddress, boolean takesForeign) {
    this.policy = policy;
    this.localGid = Gid.of(localAddress);
    this.takesForeign = takesForeign;
  }

  GidEntry choose(PortInfo port) throws PortRefusal {
    if (policy.index() != VerbsOptions.AUTO) {
      return at(port, policy.index());
    }
    return port.isEthernet() ? best(port) : infiniBand(port);
  }

  boolean isLocal(GidEntry entry) {
    return entry.gid().equals(localGid) && !entry.isForeign();
  }

  /** Reason for the choice that {@link #choose} made. */
  String reason(PortInfo port, GidEntry entry) {
    if (policy.index() != VerbsOptions.AUTO) {
      return "set by gid.index";
    }
    if (!port.isEthernet()) {
      return entry.index() == ROUTABLE_INDEX ? "the routable GID" : "the default GID";
    }
    return isLocal(entry)
        ? "this process's own address"
        : "the first usable GID of RoCE v%d, IPv4 before IPv6".formatted(policy.roceVersion());
  }

  /**
   * Reason why the entry would not be chosen unless its index or its device was configured; empty
   * if it would.
   */
  Optional<String> doubt(PortInfo port, GidEntry entry) {
    if (!port.isEthernet()) {
      return Optional.empty();
    }
    String problem = problem(entry);
    return Optional.ofNullable(problem != null ? problem : entry.isForeign() ? FOREIGN : null);
  }

  private static GidEntry at(PortInfo port, int index) throws PortRefusal {
    return port.gids().stream()
        .filter(entry -> entry.index() == index)
        .findFirst()
        .orElseThrow(() -> new PortRefusal(Refusal.Kind.NO_GID, "has no GID at index " + index));
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
    Refusal.Kind kind = Refusal.Kind.NO_GID;
    GidEntry best = null;
    for (GidEntry entry : port.gids()) {
      String problem = problem(entry);
      if (problem == null && entry.isForeign() && !takesForeign) {
        problem = FOREIGN;
        kind = Refusal.Kind.FOREIGN_GID;
      }
      if (problem != null) {
        skipped.add(entry + " is " + problem);
      } else if (best == null || rank(entry) > rank(best)) {
        best = entry;
      }
    }
    if (best == null) {
      throw new PortRefusal(
          kind,
          skipped.isEmpty()
              ? "has no GID, so its network device has no address"
              : "has no suitable GID: " + String.join(", ", skipped));
    }
    return best;
  }

  /** Reason why the entry cannot be used in any network namespace; null if it can. */
  private @Nullable String problem(GidEntry entry) {
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

  /** Ranks entries of this network namespace above all others, then by address: own, IPv4, IPv6. */
  private int rank(GidEntry entry) {
    int ofAddress = isLocal(entry) ? 2 : entry.gid().isIpv4() ? 1 : 0;
    return entry.isForeign() ? ofAddress : ofAddress + 3;
  }
}
