// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorConf;
import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.blocks.conf.SettingTable.Refusal;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Check of Sluice's keys and of other keys that it reads: an application with a wrong one does not
 * start. {@link Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record SettingsCheck(SparkSettings settings) implements Check {
  /** Keys that no user sets: executors get them from the driver. */
  private static final Set<String> BY_DRIVER =
      Set.of(
          ExecutorSettings.DEFAULT_MEMORY_OVERHEAD.key(), ExecutorSettings.NODE_INCARNATION.key());

  @Override
  public String name() {
    return "settings";
  }

  @Override
  public List<Finding> findings() {
    if (!settings.isKnown()) {
      return List.of(
          Finding.ok(
              name(),
              "defaults: there is no spark-defaults.conf in SPARK_CONF_DIR or SPARK_HOME/conf; give"
                  + " the job's by --properties-file and --conf"));
    }
    List<Finding> findings = new ArrayList<>();
    settings.refusals().forEach((key, refusal) -> findings.add(wrong(key, refusal)));
    return findings.isEmpty() ? List.of(right()) : List.copyOf(findings);
  }

  private Finding wrong(String key, Refusal refusal) {
    String value = settings.get(key).orElse("");
    Finding wrong =
        Finding.fail(
                name(),
                "%s: %s".formatted(settings.place(), refusal.reason()),
                "correct the key or its value, or remove it (docs/configuration.md)")
            .with("key", key)
            .with("value", value);
    return isMeant(refusal.nearest(), value)
        ? wrong.mendedBy(FixLine.inPlaceOf(key, refusal.nearest(), value))
        : wrong;
  }

  /** Returns true if a key is there, allows the value of the misspelt one, and has none itself. */
  private boolean isMeant(String nearest, String value) {
    return !nearest.isEmpty()
        && settings.get(nearest).isEmpty()
        && ExecutorConf.refusals(Map.of(nearest, value)).isEmpty();
  }

  /** Makes the finding that names our keys. */
  private Finding right() {
    List<String> ours =
        settings.values().keySet().stream()
            .filter(key -> key.startsWith(ExecutorSettings.PREFIX) && !BY_DRIVER.contains(key))
            .sorted()
            .toList();
    return Finding.ok(
            name(),
            "Sluice's keys in %s: %s"
                .formatted(settings.place(), ours.isEmpty() ? "none" : String.join(", ", ours)))
        .with("place", settings.place());
  }
}
