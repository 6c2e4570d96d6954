package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.sluice.benchmarks.chaos.RunResult.Outcome;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Answer;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/**
 * A run beside what it is measured by.
 *
 * @param expected the stock shuffle's answer, without a fault
 * @param stockSeconds the stock shuffle's time under the same fault, or without one where it cannot
 *     have it or failed
 */
public record ChaosRun(RunResult result, Answer expected, double stockSeconds) {
  /**
   * What a run may take longer than twice the stock shuffle's time: deadlines, and this machine.
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

  /** Whether the fault struck a job that READ blocks: else it shows nothing. */
  @JsonIgnore
  boolean isTelling() {
    return result.struck() && result.readBlocks() > 0;
  }

  /** What only RDMA can notice may cost no task. */
  @JsonIgnore
  boolean hasUnexpectedLosses() {
    return result.losses().stageRetries() > cause().stageRetries() * workload().shuffles()
        || result.losses().executors() > cause().lostExecutors()
        || (!cause().happensToStock() && result.losses().withoutRetries() > 0);
  }

  @JsonIgnore
  boolean isLeak() {
    return !result.leaks().isEmpty();
  }

  @JsonIgnore
  boolean isLate() {
    return result.seconds() > 2 * stockSeconds + SLACK_SECONDS + retrySeconds();
  }

  private int retrySeconds() {
    return result.losses().stageRetries() == 0 ? 0 : workload().retrySeconds();
  }

  private Workload workload() {
    return Workload.named(result.run().workload());
  }

  /** What is wrong with it, in words; empty where nothing is. */
  List<String> complaints() {
    List<String> complaints = new ArrayList<>();
    if (isWrong()) {
      complaints.add("WRONG ANSWER: %s instead of %s".formatted(result.answer(), expected));
    }
    if (!ended(Outcome.ANSWERED)) {
      complaints.add(result.outcome() + ": " + result.problem());
    }
    if (hasUnexpectedLosses()) {
      complaints.add("UNEXPECTED: " + result.losses());
    }
    if (isLate()) {
      complaints.add("LATE: %.1f s, stock %.1f s".formatted(result.seconds(), stockSeconds));
    }
    result.leaks().forEach(leak -> complaints.add("LEAK: " + leak));
    return complaints;
  }
}
