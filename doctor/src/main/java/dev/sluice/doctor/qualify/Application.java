// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An application of Spark, as far as its event log tells. {@link EventReader} fills it, line by
 * line; then {@link QualifyText} prints it. It keeps a few hundred bytes for each of the first
 * {@value #MOST_STAGES} stages that read shuffles, and for those that run. For one thread.
 */
final class Application {
  /** Number of stages of which each is kept; the tasks of further ones are added up. */
  static final int MOST_STAGES = 100_000;

  private record Attempt(long stage, long attempt) {}

  private final Map<Attempt, Stage> stages = new LinkedHashMap<>();
  private final Stage further = new Stage(-1, 0);
  private final ShuffleReads all = new ShuffleReads();
  private String name = "";
  private String id = "";
  private String sparkVersion = "";
  private String manager = "";
  private long startedMs;
  private long endedMs;
  private long lastMs;
  private long completedStages;
  private long tasksWithoutMetrics;

  void version(String version) {
    sparkVersion = version;
  }

  void started(String newName, String newId, long ms) {
    name = newName;
    id = newId;
    startedMs = ms;
    at(ms);
  }

  void ended(long ms) {
    endedMs = ms;
    at(ms);
  }

  /** Notes a time at which the application ran. */
  void at(long ms) {
    lastMs = Math.max(lastMs, ms);
  }

  /** Notes the setting spark.shuffle.manager. */
  void manager(String className) {
    manager = className;
  }

  /** Notes that a stage begins or ends. One that has ended and has read no shuffle is dropped. */
  void stage(long stageId, long attempt, String stageName, long submittedMs, long completedMs) {
    at(Math.max(submittedMs, completedMs));
    stage(stageId, attempt).described(stageName, submittedMs, completedMs);
    if (completedMs > 0) {
      completedStages++;
      Attempt key = new Attempt(stageId, attempt);
      Stage kept = stages.get(key);
      if (kept != null && !kept.reads().isAny()) {
        stages.remove(key);
      }
    }
  }

  /** Adds a task. One that ends after its stage matters only if it has read a shuffle. */
  void task(long stageId, long attempt, ShuffleReads reads) {
    all.add(reads);
    if (reads.isAny() || stages.containsKey(new Attempt(stageId, attempt))) {
      stage(stageId, attempt).reads().add(reads);
    }
  }

  /** Adds a task whose metrics the log lacks, such as one that failed. */
  void taskWithoutMetrics() {
    tasksWithoutMetrics++;
  }

  private Stage stage(long stageId, long attempt) {
    Attempt key = new Attempt(stageId, attempt);
    return stages.size() < MOST_STAGES
        ? stages.computeIfAbsent(key, _ -> new Stage(stageId, attempt))
        : stages.getOrDefault(key, further);
  }

  /** Returns the stages that read a shuffle, in their order of submission. */
  List<Stage> readingStages() {
    return stages.values().stream().filter(stage -> stage.reads().isAny()).toList();
  }

  /** Returns the sum of the tasks of stages that are not kept; empty if there are none. */
  Optional<ShuffleReads> further() {
    return Optional.of(further.reads()).filter(reads -> reads.tasks() > 0);
  }

  /** Returns the time during which a stage ran that reads a shuffle. */
  double readingSeconds() {
    long sumMs = 0;
    long untilMs = 0;
    List<Stage> ordered =
        readingStages().stream()
            .filter(Stage::hasTimes)
            .sorted(Comparator.comparingLong(Stage::submittedMs))
            .toList();
    for (Stage stage : ordered) {
      sumMs += Math.max(0, stage.completedMs() - Math.max(untilMs, stage.submittedMs()));
      untilMs = Math.max(untilMs, stage.completedMs());
    }
    return sumMs / 1e3;
  }

  /** Returns the duration until the end, else until the last event; 0 if the log lacks it. */
  double seconds() {
    return startedMs == 0 ? 0 : (lastMs - startedMs) / 1e3;
  }

  boolean hasEnded() {
    return endedMs > 0;
  }

  /** Returns the sums of all tasks with metrics, with those that read no shuffle. */
  ShuffleReads all() {
    return all;
  }

  long completedStages() {
    return completedStages;
  }

  long tasksWithoutMetrics() {
    return tasksWithoutMetrics;
  }

  String name() {
    return name;
  }

  String id() {
    return id;
  }

  /** Returns the version of Spark; empty if the log lacks it. */
  String sparkVersion() {
    return sparkVersion;
  }

  /** Returns the shuffle manager that is set; empty if none is. */
  String manager() {
    return manager;
  }
}
