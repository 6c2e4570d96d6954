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

  /** Name of that key since Comet 1.2, which takes the older one as well. */
  private static final String COMETS_SHUFFLE_SINCE_1_2 = "spark.comet.shuffle.enabled";

  private static final String GLUTEN = "spark.gluten.enabled";
  private static final String PUSH = "spark.shuffle.push.enabled";
  private static final String ENGINES = "docs/other-engines.md";

  /** Switches of engines and modes. */
  static final List<String> SWITCHES =
      List.of(COMET, COMETS_SHUFFLE, COMETS_SHUFFLE_SINCE_1_2, GLUTEN, PUSH);

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
    if (isThere("comet") && settings.isOn(COMET, true) && cometShuffles()) {
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

  private boolean cometShuffles() {
    return settings.isOn(COMETS_SHUFFLE, true) && settings.isOn(COMETS_SHUFFLE_SINCE_1_2, true);
  }

  /**
   * Comet turns all of itself off where its shuffle is on, unless the manager's class extends that
   * of Comet.
   */
  private Finding comet() {
    String forComet = Installation.FOR_COMET;
    if (settings.get(Installation.MANAGER).filter(forComet::equals).isPresent()) {
      return Finding.ok("comet", "DataFusion Comet's exchanges are READ by " + forComet);
    }
    return Finding.warn(
            "comet",
            "DataFusion Comet's own shuffle is on: Comet turns itself off with %s"
                .formatted(Installation.OURS),
            "set %s=false, which keeps its other operators, or %s=%s with its jar (%s)"
                .formatted(COMETS_SHUFFLE, Installation.MANAGER, forComet, ENGINES))
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
