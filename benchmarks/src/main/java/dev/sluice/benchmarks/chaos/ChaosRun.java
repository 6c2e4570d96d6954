package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.sluice.benchmarks.chaos.RunResult.Outcome;
import dev.sluice.benchmarks.chaos.cluster.Losses;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Workload;
import dev.sluice.benchmarks.storm.Sums;
import java.util.ArrayList;
import java.util.List;

/**
 * A run beside what it is measured by.
 *
 * @param expected the stock shuffle's answer, without a fault
 * @param stock what it costs the stock shuffle
 */
public record ChaosRun(RunResult result, Sums expected, Stock stock) {
  /**
   * What the stock shuffle's run took under the same fault, or without one where it cannot have it
   * or failed.
   *
   * @param losses null where it failed under the fault, or that came too late
   */
  record Stock(double seconds, Losses losses) {}

  /** A fault does not hit two runs alike: so many stages more may be run again, for a shuffle. */
  private static final int SLACK_RETRIES = 3;

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
    return result.losses().stageRetries() > allowedRetries()
        || result.losses().executors() > cause().cost().lostExecutors()
        || (!cause().cost().happensToStock() && result.losses().withoutRetries() > 0);
  }

  /** What may happen to this fault at all, and not much more than happened to the stock shuffle. */
  private int allowedRetries() {
    int shuffles = workload().shuffles();
    int most = cause().cost().stageRetries() * shuffles;
    boolean same = cause().name().equals(result.run().fault()) && stock.losses() != null;
    return same ? Math.min(most, stock.losses().stageRetries() + SLACK_RETRIES * shuffles) : most;
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
      complaints.add("LATE: %.1f s, stock %.1f s".formatted(result.seconds(), stock.seconds()));
    }
    result.leaks().forEach(leak -> complaints.add("LEAK: " + leak));
    return complaints;
  }
}
