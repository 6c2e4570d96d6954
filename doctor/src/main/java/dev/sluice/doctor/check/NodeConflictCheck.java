// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import dev.sluice.doctor.NodeConflict;
import java.util.ArrayList;
import java.util.List;

/**
 * Check for settings that {@code spark.shuffle.rdma.node=on} excludes: the application does not
 * start. {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record NodeConflictCheck(SparkSettings settings, ExecutorConf conf) implements Check {
  private static final String NODE = ExecutorSettings.NODE.key();

  @Override
  public String name() {
    return "node";
  }

  @Override
  public List<Finding> findings() {
    if (!conf.isNodeRequired()) {
      return List.of();
    }
    List<Finding> findings =
        new ArrayList<>(
            NodeConflict.all(settings.values()::get).stream().map(this::excluded).toList());
    if (conf.readsForbidden() || conf.offReason().isPresent()) {
      String reason = "no blocks are READ";
      findings.add(
          fail(reason, "set " + NODE + "=off, or see " + ReadsCheck.NAME)
              .causedBy(
                  List.of(ReadsCheck.NAME), "applications do not start, as " + NODE + " is on"));
    }
    return List.copyOf(findings);
  }

  /**
   * Makes the finding about a conflict. The operator decides where one of the two settings protects
   * bytes: no line encrypts less, and none turns READs on where Spark encrypts.
   */
  private Finding excluded(NodeConflict conflict) {
    String key = conflict.key();
    if (FixLine.isProtection(key)) {
      return fail(
          conflict.reason(),
          "decide by docs/security.md: %s=off keeps the protection of %s".formatted(NODE, key));
    }
    Finding finding =
        fail(conflict.reason(), "set %s=%s, or %s=off".formatted(key, conflict.wanted(), NODE));
    boolean exposes =
        key.equals(ExecutorSettings.PROVIDER.key()) && conf.wireEncryption().isPresent();
    return exposes ? finding : finding.mendedBy(FixLine.setting(key, conflict.wanted()));
  }

  private Finding fail(String reason, String set) {
    return Finding.fail(
        name(), NODE + " is on, but " + reason + "; applications do not start", set);
  }
}
