// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.ArrayList;
import java.util.List;

/**
 * Check for settings that keep blocks on Spark's own transport, whatever this node can do. {@link
 * Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record ReadsCheck(ExecutorConf conf) implements Check {
  private static final String PROVIDER = ExecutorSettings.PROVIDER.key();
  private static final String PLAINTEXT = ExecutorSettings.ALLOW_PLAINTEXT.key();

  static final String NAME = "reads";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    if (conf.provider().equals("off")) {
      findings.add(mended(PROVIDER + " is off", PROVIDER, "auto"));
    }
    if (conf.readsForbidden()) {
      // No line to paste: it would expose the bytes of blocks.
      findings.add(
          warn(
              "%s is true, so Spark encrypts its network, and %s is not set"
                  .formatted(conf.wireEncryption().orElse(""), PLAINTEXT),
              "decide by docs/security.md: with %s=true READs are neither encrypted nor authenticated"
                  .formatted(PLAINTEXT)));
    }
    conf.offReason()
        .ifPresent(
            reason -> findings.add(mended(reason, ExecutorConf.OLD_FETCH_PROTOCOL, "false")));
    return List.copyOf(findings);
  }

  /** Makes the finding that a setting mends. No line turns READs on where Spark encrypts. */
  private Finding mended(String reason, String key, String value) {
    Finding finding = warn(reason, "set " + key + "=" + value);
    return conf.wireEncryption().isPresent()
        ? finding
        : finding.mendedBy(FixLine.setting(key, value));
  }

  private Finding warn(String reason, String set) {
    return Finding.warn(name(), "no blocks are READ: " + reason, set).with("reason", reason);
  }
}
