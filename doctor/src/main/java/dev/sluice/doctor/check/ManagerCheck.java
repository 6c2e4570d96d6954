// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Check of the shuffle manager that applications have, and of engines that bring another one
 * (docs/other-engines.md). {@link Checks} makes it, and {@link CheckRunner} asks it once, on a
 * thread of its own.
 */
record ManagerCheck(SparkSettings settings) implements Check {
  static final String KEY = "spark.shuffle.manager";
  static final String OURS = "dev.sluice.spark.RdmaShuffleManager";
  private static final String COMETS_SHUFFLE = "spark.comet.exec.shuffle.enabled";
  private static final String PUSH = "spark.shuffle.push.enabled";
  private static final String ENGINES = "docs/other-engines.md";

  /**
   * Project with a shuffle manager of its own.
   *
   * @param part part of the name of its class
   */
  private record Project(String part, String name) {}

  private static final List<Project> OTHERS =
      List.of(
          new Project("celeborn", "Apache Celeborn"),
          new Project("RssShuffleManager", "Apache Uniffle"),
          new Project("uniffle", "Apache Uniffle"),
          new Project("rapids", "RAPIDS"),
          new Project("comet", "DataFusion Comet"),
          new Project("gluten", "Gluten"),
          new Project("ColumnarShuffleManager", "Gluten"),
          new Project("UcxShuffleManager", "SparkUCX"),
          new Project("org.apache.spark.shuffle.rdma", "SparkRDMA"),
          new Project("S3ShuffleManager", "the S3 shuffle plug-in"));

  @Override
  public String name() {
    return "manager";
  }

  @Override
  public List<Finding> findings() {
    if (!settings.isKnown()) {
      return List.of(
          Finding.ok(
              name(),
              "not checked: the settings of jobs are not known; they need " + KEY + "=" + OURS));
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(manager());
    comet().ifPresent(findings::add);
    gluten().ifPresent(findings::add);
    if (settings.isTrue(PUSH)) {
      findings.add(
          Finding.warn(
                  "push",
                  PUSH + " is true: blocks that Spark's service has merged are not READ",
                  "set " + PUSH + "=false: both make small blocks cheap (" + ENGINES + ")")
              .mendedBy(FixLine.setting(PUSH, "false")));
    }
    return List.copyOf(findings);
  }

  private Finding manager() {
    Optional<String> manager = settings.get(KEY);
    Finding finding = manager.map(this::named).orElseGet(this::unnamed);
    return finding.with("manager", manager.orElse("sort"));
  }

  private Finding unnamed() {
    return mended(
        "%s does not set %s: Spark's own shuffle is used, unless --conf of spark-submit sets it"
            .formatted(settings.place(), KEY));
  }

  private Finding named(String manager) {
    if (manager.equals(OURS)) {
      return Finding.ok(name(), OURS);
    }
    if (manager.equals("sort")
        || manager.equals("tungsten-sort")
        || manager.equals("org.apache.spark.shuffle.sort.SortShuffleManager")) {
      return mended("%s is Spark's own, %s".formatted(KEY, manager));
    }
    return OTHERS.stream()
        .filter(other -> manager.contains(other.part()))
        .findFirst()
        .map(other -> mended("%s is that of %s, %s".formatted(KEY, other.name(), manager)))
        .orElseGet(() -> unknown(manager));
  }

  private Finding mended(String said) {
    return Finding.warn(
            name(),
            said,
            "set %s=%s; an application has one manager (%s)".formatted(KEY, OURS, ENGINES))
        .mendedBy(FixLine.setting(KEY, OURS));
  }

  /** Makes the finding about a class that may be built on RdmaShuffle, which is as good as ours. */
  private Finding unknown(String manager) {
    return Finding.warn(
        name(),
        "%s is %s, which is not Sluice's".formatted(KEY, manager),
        "set %s=%s, unless that class is built on dev.sluice.spark.RdmaShuffle"
            .formatted(KEY, OURS));
  }

  private boolean hasPlugin(String part) {
    return settings.get("spark.plugins").orElse("").contains(part);
  }

  /** Comet turns all of itself off where its shuffle is on and another manager is set. */
  private Optional<Finding> comet() {
    boolean isOn =
        hasPlugin("CometPlugin") && !settings.get(COMETS_SHUFFLE).orElse("true").equals("false");
    return isOn && settings.get(KEY).orElse("").equals(OURS)
        ? Optional.of(
            Finding.warn(
                    "comet",
                    "DataFusion Comet turns itself off: its own shuffle is on, and Sluice's is set",
                    "set %s=false, which keeps its other operators (%s)"
                        .formatted(COMETS_SHUFFLE, ENGINES))
                .mendedBy(FixLine.setting(COMETS_SHUFFLE, "false")))
        : Optional.empty();
  }

  private Optional<Finding> gluten() {
    return hasPlugin("GlutenPlugin")
        ? Optional.of(
            Finding.warn(
                "gluten",
                "Gluten is among spark.plugins: its columnar exchange needs its own manager",
                "choose Gluten or Sluice for an application (" + ENGINES + ")"))
        : Optional.empty();
  }
}
