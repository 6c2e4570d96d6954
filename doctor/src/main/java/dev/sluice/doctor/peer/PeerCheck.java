// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * READs from a node on which a doctor serves. With {@code --peer}, {@code CommandLine} makes it and
 * {@code CheckRunner} asks it after all other checks, on a thread of its own. It closes its reader
 * itself.
 */
public record PeerCheck(CheckContext context, PeerAddress peer) implements Check {
  /** READs below this part of the slower port's rate are slow. */
  private static final double SLOW_SHARE = 0.5;

  private static final String SLOW =
      "READs of 1 MiB usually reach half of the rate or more: check cable, PFC and ECN of the"
          + " ports between, and the adapter's PCIe width and NUMA node (docs/hardware.md);"
          + " repeat the check on idle nodes";

  @Override
  public String name() {
    return "peer";
  }

  @Override
  public List<Finding> findings() throws IOException {
    try (PeerReader reader = new PeerReader(context)) {
      return of(reader.read(peer));
    } catch (PeerException e) {
      return List.of(
          Finding.fail(name(), "no READ from " + peer.host() + ": " + e.getMessage(), e.set())
              .with("host", peer.host())
              .with("port", peer.port()));
    }
  }

  private List<Finding> of(PeerReader.Measured measured) {
    List<Finding> findings = new ArrayList<>();
    findings.add(
        judged(measured)
            .with("host", peer.host())
            .with("port", peer.port())
            .with("device", measured.device())
            .with("read_bytes_per_second", measured.bytesPerSecond())
            .with("read_latency_microseconds", measured.micros())
            .with("link_bytes_per_second", measured.link().bytesPerSecond()));
    if (measured.localMtu() != measured.remoteMtu()) {
      findings.add(
          Finding.warn(
                  "mtu",
                  "MTU is %d here and %d at %s: the smaller one counts"
                      .formatted(measured.localMtu(), measured.remoteMtu(), peer.host()),
                  "set the same MTU on both network devices, and on the switch")
              .with("local_mtu_bytes", measured.localMtu())
              .with("remote_mtu_bytes", measured.remoteMtu()));
    }
    return findings;
  }

  Finding judged(PeerReader.Measured measured) {
    LinkRate link = measured.link();
    String said =
        "READ from %s (%s): %.0f MB/s, %.1f us"
            .formatted(
                peer.host(), measured.device(), measured.bytesPerSecond() / 1e6, measured.micros());
    if (!link.unknown().isEmpty()) {
      return Finding.ok(name(), said + ", not judged: " + link.unknown());
    }
    double share = measured.bytesPerSecond() / link.bytesPerSecond();
    said +=
        ", %.0f %% of the slower port's %.0f Gb/s".formatted(100 * share, link.gigabitsPerSecond());
    return share < SLOW_SHARE ? Finding.warn(name(), said, SLOW) : Finding.ok(name(), said);
  }
}
