// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static java.util.Objects.requireNonNull;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Limited;
import dev.sluice.verbs.ProviderUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Asks one question after the other, whatever the results. A question that fails, or has no answer
 * in time, is a finding as well. The checkup ends in time, whatever hangs. {@code CommandLine}
 * calls it on the doctor's main thread, {@code ExecutorDoctor} on a task's; both wait.
 */
public final class CheckRunner {
  /** Remedy for a provider that does not work. */
  public static final String VERBS_DO_NOT_WORK =
      "see docs/troubleshooting.md, Verbs do not work; or set spark.shuffle.rdma.provider"
          + " (--provider)";

  private static final Duration ONE_LIMIT = Duration.ofSeconds(60);

  /** Less than the Spark job waits for an executor, so that findings arrive. */
  private static final Duration ALL_LIMIT = Duration.ofMinutes(4);

  private final Duration oneLimit;
  private final Duration allLimit;

  public CheckRunner() {
    this(ONE_LIMIT, ALL_LIMIT);
  }

  /**
   * @param oneLimit limit of each question
   * @param allLimit limit of all questions
   */
  CheckRunner(Duration oneLimit, Duration allLimit) {
    this.oneLimit = oneLimit;
    this.allLimit = allLimit;
  }

  /** Returns findings in the order of the questions. One cause is one finding. */
  public List<Finding> of(List<Check> checks) throws InterruptedException {
    long end = System.nanoTime() + allLimit.toNanos();
    List<Finding> findings = new ArrayList<>();
    for (Check check : checks) {
      Duration left = Duration.ofNanos(end - System.nanoTime());
      of(check, left.compareTo(oneLimit) < 0 ? left : oneLimit)
          .forEach(found -> found.addTo(findings));
    }
    return findings;
  }

  /** Makes the finding of a failed question. A provider that does not work has one cause. */
  private static Finding failure(Check check, Throwable thrown) {
    return thrown instanceof ProviderUnavailableException
        ? Finding.fail(check.name(), Finding.reason(thrown), VERBS_DO_NOT_WORK)
            .causedBy(Checks.VERBS_CAUSES, check.name() + " was not checked")
        : Finding.fail(check.name(), Finding.reason(thrown), "see docs/troubleshooting.md");
  }

  private List<Finding> of(Check check, Duration limit) throws InterruptedException {
    if (limit.isNegative()) {
      return List.of(
          Finding.fail(
              check.name(),
              "not checked: the checks before took %d s".formatted(allLimit.toSeconds()),
              "first fix the checks above that did not answer"));
    }
    try {
      return Limited.call(check.name(), limit, check::findings);
    } catch (ExecutionException e) {
      return List.of(failure(check, requireNonNull(e.getCause())));
    } catch (TimeoutException e) {
      return List.of(
          Finding.fail(
              check.name(),
              String.valueOf(e.getMessage()),
              "check the kernel's log, and the state of disks and devices"));
    }
  }
}
