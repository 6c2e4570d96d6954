// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import dev.sluice.doctor.NodeConflict;
import java.util.List;
import java.util.Optional;

/**
 * Check for settings that {@code spark.shuffle.rdma.node=on} excludes: the application does not
 * start. {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record NodeConflictCheck(SparkSettings settings, ExecutorConf conf) implements Check {
  private static final String NODE = "spark.shuffle.rdma.node";

  @Override
  public String name() {
    return "node";
  }

  @Override
  public List<Finding> findings() {
    if (!conf.isNodeRequired()) {
      return List.of();
    }
    Optional<NodeConflict> conflict = NodeConflict.of(settings.values()::get);
    if (conflict.isPresent()) {
      NodeConflict found = conflict.get();
      return List.of(
          fail(found.reason(), "set %s=%s, or %s=off".formatted(found.key(), found.wanted(), NODE))
              .mendedBy(FixLine.setting(found.key(), found.wanted())));
    }
    boolean isRead = !conf.readsForbidden() && conf.offReason().isEmpty();
    return isRead
        ? List.of()
        : List.of(fail("no blocks are READ", "set " + NODE + "=off, or let them be READ"));
  }

  private Finding fail(String reason, String set) {
    return Finding.fail(
        name(), NODE + " is on, but " + reason + "; applications do not start", set);
  }
}
