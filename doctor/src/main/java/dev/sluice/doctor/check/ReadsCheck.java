// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.List;

/**
 * Check for settings that keep blocks on Spark's own transport, whatever this node can do. {@link
 * Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record ReadsCheck(ExecutorConf conf) implements Check {
  private static final String PROVIDER = "spark.shuffle.rdma.provider";

  @Override
  public String name() {
    return "reads";
  }

  @Override
  public List<Finding> findings() {
    if (isOff(conf)) {
      return List.of(
          warn(PROVIDER + " is off", "set " + PROVIDER + "=auto")
              .mendedBy(FixLine.setting(PROVIDER, "auto")));
    }
    if (conf.readsForbidden()) {
      // No line to paste: it would expose the bytes of blocks.
      return List.of(
          warn(
              "Spark encrypts its network, and spark.shuffle.rdma.allowPlaintext is not set",
              "docs/security.md has the price of spark.shuffle.rdma.allowPlaintext=true"));
    }
    return conf.offReason().stream()
        .map(
            reason ->
                warn(reason, "remove spark.shuffle.useOldFetchProtocol")
                    .mendedBy(FixLine.setting("spark.shuffle.useOldFetchProtocol", "false")))
        .toList();
  }

  static boolean isOff(ExecutorConf conf) {
    return conf.provider().equals("off");
  }

  private Finding warn(String reason, String set) {
    return Finding.warn(name(), "no blocks are READ: " + reason, set).with("reason", reason);
  }
}
