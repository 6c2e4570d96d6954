// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.chaos.ChaosRun.RunResult.Outcome;
import dev.sluice.chaos.ChaosRuns.ChaosFile;
import dev.sluice.chaos.fault.Fault;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.chaos.workload.Workload;
import dev.sluice.testkit.Stages.Losses;
import dev.sluice.testkit.Sums;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run and the stock shuffle's results, by which it is judged. {@link ChaosRuns} creates it in the
 * command. {@link ChaosFile} keeps it as JSON, so its components are the format, and all judgements
 * are methods that JSON ignores. Immutable.
 *
 * @param expected the stock shuffle's answer without a fault
 * @param stock time and losses of the stock shuffle
 */
public record ChaosRun(RunResult result, Sums expected, Stock stock) {
  /**
   * Time and losses of the stock shuffle's run under the same fault. They are those of its run
   * without a fault if the fault cannot strike it or made it fail.
   *
   * @param losses null if the run failed under the fault, or the fault struck too late
   */
  record Stock(double seconds, @Nullable Losses losses) {}

  /** Stage retries, for each shuffle, by which two runs under the same fault may differ. */
  private static final int SLACK_RETRIES = 3;

  /**
   * Seconds that a run may take longer than twice the stock shuffle's time: deadlines, and noise.
   */
  private static final double SLACK_SECONDS = 20;

  @JsonIgnore
  boolean isWrong() {
    return result.answer() != null && !result.answer().equals(expected);
  }

  boolean ended(Outcome outcome) {
    return result.outcome() == outcome;
  }

  private Fault cause() {
    return Faults.named(result.cause());
  }

  /** Returns true if the fault struck a job that READ blocks; any other run shows nothing. */
  @JsonIgnore
  boolean isTelling() {
    return result.struck() && result.readBlocks() > 0;
  }

  /** Returns true if losses exceed the fault's cost. A fault of RDMA alone may cost no task. */
  @JsonIgnore
  boolean hasUnexpectedLosses() {
    return result.losses().stageRetries() > allowedRetries()
        || result.losses().executors() > cause().lostExecutors()
        || (!cause().happensToStock() && result.losses().withoutRetries() > 0);
  }

  /** Returns the fault's limit; less if the stock shuffle needed far less. */
  private int allowedRetries() {
    int shuffles = workload().shuffles();
    int most = cause().stageRetries() * shuffles;
    boolean same = cause().name().equals(result.run().fault());
    return same && stock.losses() != null
        ? Math.min(most, stock.losses().stageRetries() + SLACK_RETRIES * shuffles)
        : most;
  }

  @JsonIgnore
  boolean isLeak() {
    return !result.leaks().isEmpty();
  }

  @JsonIgnore
  boolean isLate() {
    return result.seconds() > 2 * stock.seconds() + SLACK_SECONDS + retrySeconds();
  }

  private int retrySeconds() {
    return result.losses().stageRetries() == 0 ? 0 : workload().retrySeconds();
  }

  private Workload workload() {
    return Workload.named(result.run().workload());
  }

  /** Returns descriptions of the problems; empty if there are none. */
  List<String> complaints() {
    List<String> complaints = new ArrayList<>();
    if (isWrong()) {
      complaints.add("WRONG ANSWER: %s instead of %s".formatted(result.answer(), expected));
    }
    if (!ended(Outcome.ANSWERED)) {
      complaints.add(result.outcome() + ": " + result.problem());
    }
    if (hasUnexpectedLosses()) {
      complaints.add("UNEXPECTED LOSSES: " + result.losses());
    }
    if (isLate()) {
      complaints.add("LATE: %.1f s, stock %.1f s".formatted(result.seconds(), stock.seconds()));
    }
    result.leaks().forEach(leak -> complaints.add("LEAK: " + leak));
    return complaints;
  }

  /**
   * Result of one run. {@link FaultedJob} creates it in the driver, which sends it to the command
   * as JSON; for a driver that fails, {@link ChaosRuns} creates it.
   *
   * @param cause name of the fault that struck: the run's own, or the one chosen for it
   * @param answer answer of the workload; null if there is none
   * @param problem reason why there is no answer; null if there is one
   * @param struck true if the fault is known to have happened while the job ran
   * @param readBlocks blocks that were READ by executors that did not end
   * @param seconds time from the beginning of the job to its end
   * @param recoverySeconds time from the fault to the end of the job
   * @param leaks resources that executors still held at the end
   * @param held levels at the end, of the driver and of the executor with the highest: numbers of
   *     descriptors, threads and mapped files; bytes of resident memory and of live heap;
   *     outstanding READs of one queue pair when the fault broke it
   * @param endMs end of the run, on this machine's clock
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record RunResult(
      Run run,
      String cause,
      Outcome outcome,
      @Nullable Sums answer,
      @Nullable String problem,
      Losses losses,
      boolean struck,
      long readBlocks,
      double seconds,
      double recoverySeconds,
      List<String> leaks,
      Map<String, Long> held,
      long endMs) {

    /** How a run ended. */
    public enum Outcome {
      /** The job returned an answer. */
      ANSWERED,
      /** The job or the driver's process failed. */
      FAILED,
      /** The job did not end in time. */
      HANG,
      /** The fault could not be caused or removed, which says nothing about the job. */
      HARNESS
    }

    /** Key of a run: parameters that stay the same when it is repeated. */
    public record Run(String provider, String fault, String workload, long seed) {}

    /** Returns the result of a run whose process ended. */
    static RunResult failed(Run run, String problem) {
      return new RunResult(
          run,
          run.fault(),
          Outcome.FAILED,
          null,
          problem,
          Losses.NONE,
          true,
          0,
          0,
          0,
          List.of(),
          Map.of(),
          System.currentTimeMillis());
    }
  }
}
