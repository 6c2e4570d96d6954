// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Check of the shuffle manager that applications have. {@link Checks} makes it, and {@link
 * CheckRunner} asks it once, on a thread of its own.
 */
record ManagerCheck(Installation installation) implements Check {
  private static final String KEY = Installation.MANAGER;
  private static final String OURS = Installation.OURS;

  /** Names that Spark itself has for its manager, in lower case. */
  private static final Set<String> SPARKS =
      Set.of("sort", "tungsten-sort", "org.apache.spark.shuffle.sort.sortshufflemanager");

  /**
   * Project with a shuffle manager of its own.
   *
   * @param part part of the name of its class, in lower case
   */
  private record Project(String part, String name) {}

  private static final List<Project> OTHERS =
      List.of(
          new Project("celeborn", "Apache Celeborn"),
          new Project("rssshufflemanager", "Apache Uniffle"),
          new Project("uniffle", "Apache Uniffle"),
          new Project("rapids", "RAPIDS"),
          new Project("comet", "DataFusion Comet"),
          new Project("gluten", "Gluten"),
          new Project("columnarshufflemanager", "Gluten"),
          new Project("ucxshufflemanager", "SparkUCX"),
          new Project("org.apache.spark.shuffle.rdma", "SparkRDMA"),
          new Project("s3shufflemanager", "the S3 shuffle plug-in"));

  @Override
  public String name() {
    return "manager";
  }

  @Override
  public List<Finding> findings() {
    if (!installation.settings().isKnown()) {
      return List.of(
          Finding.ok(
              name(),
              "not checked: the settings of jobs are not known; they need %s=%s, and %s with its jar"
                  .formatted(KEY, OURS, Installation.JARS)));
    }
    Optional<String> manager = installation.manager();
    Finding finding = manager.map(this::named).orElseGet(this::unnamed);
    return List.of(finding.with("manager", manager.orElse("sort")));
  }

  private Finding unnamed() {
    return mended(
        "%s does not set %s: Spark's own shuffle is used, unless --conf of spark-submit sets it"
            .formatted(installation.settings().place(), KEY));
  }

  private Finding named(String manager) {
    if (installation.hasOurManager()) {
      return Finding.ok(name(), manager);
    }
    String lower = manager.toLowerCase(Locale.ROOT);
    if (SPARKS.contains(lower)) {
      return mended("%s is Spark's own, %s".formatted(KEY, manager));
    }
    return OTHERS.stream()
        .filter(other -> lower.contains(other.part()))
        .findFirst()
        .map(other -> mended("%s is that of %s, %s".formatted(KEY, other.name(), manager)))
        .orElseGet(() -> unknown(manager));
  }

  /** Adds the line of the manager, and that of the jar where an application would lack it. */
  private Finding mended(String said) {
    Finding finding =
        Finding.warn(
                name(),
                said,
                "set %s=%s, and give its jar by %s; an application has one manager"
                        .formatted(KEY, OURS, Installation.JARS)
                    + " (docs/other-engines.md)")
            .mendedBy(FixLine.setting(KEY, OURS));
    return installation.isForAll() ? finding : finding.mendedBy(installation.jarLine());
  }

  /** Makes the finding about a class that may be built on RdmaShuffle, which is as good as ours. */
  private Finding unknown(String manager) {
    return Finding.warn(
        name(),
        "%s is %s, which is not Sluice's".formatted(KEY, manager),
        "set %s=%s, unless that class is built on dev.sluice.spark.RdmaShuffle"
            .formatted(KEY, OURS));
  }
}
