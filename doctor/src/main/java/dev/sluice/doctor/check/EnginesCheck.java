// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Check of engines and modes that have a shuffle of their own (docs/other-engines.md). {@link
 * Checks} makes it, and {@link CheckRunner} asks it once, on a thread of its own.
 */
record EnginesCheck(SparkSettings settings) implements Check {
  private static final String COMET = "spark.comet.enabled";
  private static final String COMETS_SHUFFLE = "spark.comet.exec.shuffle.enabled";
  private static final String GLUTEN = "spark.gluten.enabled";
  private static final String PUSH = "spark.shuffle.push.enabled";
  private static final String ENGINES = "docs/other-engines.md";

  /** Switches of engines and modes. */
  static final List<String> SWITCHES = List.of(COMET, COMETS_SHUFFLE, GLUTEN, PUSH);

  /** Keys whose values name the classes of engines. */
  private static final List<String> PLACES =
      List.of("spark.plugins", "spark.sql.extensions", Installation.MANAGER);

  @Override
  public String name() {
    return "engines";
  }

  @Override
  public List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    if (isThere("comet") && settings.isOn(COMET, true) && settings.isOn(COMETS_SHUFFLE, true)) {
      findings.add(comet());
    }
    if (isThere("gluten") && settings.isOn(GLUTEN, true)) {
      findings.add(gluten());
    }
    if (isThere("com.nvidia.spark.sqlplugin")) {
      findings.add(
          Finding.ok("rapids", "RAPIDS leaves its batches to the shuffle manager that is set"));
    }
    if (settings.isOn(PUSH, false)) {
      findings.add(push());
    }
    return List.copyOf(findings);
  }

  /**
   * Returns true if a setting names a class of the engine.
   *
   * @param part part of the name, in lower case
   */
  private boolean isThere(String part) {
    return PLACES.stream()
        .map(key -> settings.get(key).orElse(""))
        .anyMatch(names -> names.toLowerCase(Locale.ROOT).contains(part));
  }

  /** Comet turns all of itself off where its shuffle is on and another manager is set. */
  private static Finding comet() {
    return Finding.warn(
            "comet",
            "DataFusion Comet's own shuffle is on: Comet turns itself off with Sluice's manager",
            "set %s=false, which keeps its other operators (%s)".formatted(COMETS_SHUFFLE, ENGINES))
        .mendedBy(FixLine.setting(COMETS_SHUFFLE, "false"));
  }

  private static Finding gluten() {
    return Finding.warn(
        "gluten",
        "Gluten is on: its columnar exchange needs its own manager, and is by rows with Sluice's",
        "choose one for an application: %s=false, or Gluten's %s (%s)"
            .formatted(GLUTEN, Installation.MANAGER, ENGINES));
  }

  private static Finding push() {
    return Finding.warn(
            "push",
            PUSH + " is true: blocks that Spark's service has merged are not READ",
            "set " + PUSH + "=false: both make small blocks cheap (" + ENGINES + ")")
        .mendedBy(FixLine.setting(PUSH, "false"));
  }
}
