// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import dev.sluice.doctor.qualify.GainModel.Range;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An answer about a stage or an application, with its reason. {@link QualifyText} makes it on the
 * main thread and prints it. Immutable.
 *
 * @param saving estimated time of tasks; empty if the log lacks numbers for it
 */
record Gain(Verdict verdict, Optional<Range> saving, String reason) {
  /** Share of the task time that a saving or a cost has to reach to count. */
  static final double SHARE = 0.05;

  /** Values of spark.shuffle.manager for which blocks are Spark's own. */
  private static final Set<String> STOCK =
      Set.of("", "sort", "tungsten-sort", "org.apache.spark.shuffle.sort.SortShuffleManager");

  private static final String SLUICE = "dev.sluice.spark.RdmaShuffleManager";

  /** Answers, by the words for a table. */
  enum Verdict {
    GAIN("would gain"),
    NO_GAIN("would not gain"),
    LOSS("would lose"),
    UNKNOWN("unknown");

    private final String words;

    Verdict(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }

    /** Returns the answer that holds for all of a range, else unknown. */
    static Verdict of(Range saving, double taskSeconds) {
      double counts = SHARE * taskSeconds;
      if (saving.low() >= counts) {
        return GAIN;
      }
      if (saving.high() <= -counts) {
        return LOSS;
      }
      return saving.low() > -counts && saving.high() < counts ? NO_GAIN : UNKNOWN;
    }
  }

  private static Gain unknown(String reason) {
    return new Gain(Verdict.UNKNOWN, Optional.empty(), reason);
  }

  /**
   * Returns the answer about a stage.
   *
   * @param manager setting spark.shuffle.manager; empty if it is not set
   */
  static Gain ofStage(ShuffleReads reads, String manager) {
    if (manager.equals(SLUICE)) {
      return unknown("ran with Sluice: qualify a log of the stock shuffle");
    }
    if (!STOCK.contains(manager)) {
      return unknown("blocks are those of " + manager);
    }
    if (!reads.countsBlocks()) {
      return unknown("the log lacks the number of blocks");
    }
    if (reads.mergedBlocks() > 0) {
      return unknown("push-based shuffle, with which Sluice does not READ, has merged blocks");
    }
    if (reads.taskSeconds() == 0) {
      return unknown("the log lacks the run time of tasks");
    }
    if (reads.remoteBlocks()
        == 0) { // The storms of the model had as many remote blocks as local ones.
      return new Gain(Verdict.NO_GAIN, Optional.of(Range.NONE), "no block is remote");
    }
    Range saving = GainModel.saving(reads.blocks(), reads.bytes());
    Verdict verdict = Verdict.of(saving, reads.taskSeconds());
    return new Gain(verdict, Optional.of(saving), reason(verdict));
  }

  private static String reason(Verdict verdict) {
    return switch (verdict) {
      case GAIN -> "many small blocks";
      case NO_GAIN -> "few blocks for the task time";
      case LOSS -> "too few blocks for the fixed costs of a shuffle";
      case UNKNOWN ->
          "large blocks: they may gain where map outputs are registered, and lose where they are"
              + " staged";
    };
  }

  /**
   * Returns the answer about an application.
   *
   * @param stages answers about its stages that read shuffles
   * @param taskSeconds run time of all of its tasks
   */
  static Gain ofApplication(Collection<Gain> stages, double taskSeconds) {
    if (stages.isEmpty()) {
      return new Gain(Verdict.NO_GAIN, Optional.of(Range.NONE), "no task has read a shuffle");
    }
    List<Range> known = stages.stream().map(Gain::saving).flatMap(Optional::stream).toList();
    if (known.isEmpty()) {
      return unknown(stages.iterator().next().reason());
    }
    Range sum = known.stream().reduce(Range.NONE, Range::plus);
    int lacking = stages.size() - known.size();
    return new Gain(
        lacking > 0 ? Verdict.UNKNOWN : Verdict.of(sum, taskSeconds),
        Optional.of(sum),
        lacking > 0
            ? "%d of %d stages cannot be estimated".formatted(lacking, stages.size())
            : "sum of its stages, compared with the time of all tasks");
  }
}
