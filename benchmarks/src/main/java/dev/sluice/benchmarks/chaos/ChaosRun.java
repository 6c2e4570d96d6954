package dev.sluice.benchmarks.chaos;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Answer;
import java.util.ArrayList;
import java.util.List;

/**
 * A run beside what it is measured by.
 *
 * @param expected the stock shuffle's answer, without a fault
 * @param stockSeconds the stock shuffle's time under the same fault; null where it cannot have it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ChaosRun(RunResult result, Answer expected, Double stockSeconds) {
  /**
   * What a run may take longer than twice the stock shuffle's time: deadlines, and this machine.
   */
  private static final double SLACK_SECONDS = 20;

  @JsonIgnore
  boolean isWrong() {
    return result.answer() != null && !result.answer().equals(expected);
  }

  @JsonIgnore
  boolean isHang() {
    return result.hang();
  }

  @JsonIgnore
  boolean isFailed() {
    return result.answer() == null && !result.hang();
  }

  @JsonIgnore
  boolean hasUnexpectedRetries() {
    return result.stageRetries() > Faults.named(result.fault()).stageRetries();
  }

  /** What only RDMA can notice may cost no task and no executor. */
  @JsonIgnore
  boolean hasUnexpectedLosses() {
    return !Faults.named(result.fault()).happensToStock()
        && Faults.named(result.fault()).stageRetries() == 0
        && result.fetchFailures() + result.failedTasks() + result.lostExecutors() > 0;
  }

  @JsonIgnore
  boolean isLeak() {
    return !result.leaks().isEmpty();
  }

  @JsonIgnore
  boolean isLate() {
    return stockSeconds != null && result.seconds() > 2 * stockSeconds + SLACK_SECONDS;
  }

  /** What is wrong with it, in words; empty where nothing is. */
  List<String> complaints() {
    List<String> complaints = new ArrayList<>();
    if (isWrong()) {
      complaints.add("WRONG ANSWER: %s instead of %s".formatted(result.answer(), expected));
    }
    if (result.problem() != null) {
      complaints.add((isHang() ? "HANG: " : "FAILED: ") + result.problem());
    }
    if (hasUnexpectedRetries()) {
      complaints.add("UNEXPECTED: %d stages were run again".formatted(result.stageRetries()));
    }
    if (hasUnexpectedLosses()) {
      complaints.add(
          "UNEXPECTED: %d fetch failures, %d tasks failed, %d executors lost"
              .formatted(result.fetchFailures(), result.failedTasks(), result.lostExecutors()));
    }
    if (isLate()) {
      complaints.add("LATE: %.1f s, stock %.1f s".formatted(result.seconds(), stockSeconds));
    }
    result.leaks().forEach(leak -> complaints.add("LEAK: " + leak));
    return complaints;
  }
}
