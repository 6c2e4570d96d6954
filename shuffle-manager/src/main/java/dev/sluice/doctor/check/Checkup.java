package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Limited;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Asks one question after the other, whatever becomes of each: one that fails, or has no answer in
 * time, is a finding as well. It ends in time whatever hangs.
 */
public final class Checkup {
  /** What to do about a provider that cannot be had. */
  public static final String VERBS_DO_NOT_WORK =
      "docs/troubleshooting.md, Verbs do not work; spark.shuffle.rdma.provider (--provider)";

  private static final Duration ONE_LIMIT = Duration.ofSeconds(60);
  private static final Duration ALL_LIMIT = Duration.ofMinutes(4);

  private final Duration oneLimit;
  private final Duration allLimit;

  public Checkup() {
    this(ONE_LIMIT, ALL_LIMIT);
  }

  /**
   * @param oneLimit for each question
   * @param allLimit for all of them
   */
  Checkup(Duration oneLimit, Duration allLimit) {
    this.oneLimit = oneLimit;
    this.allLimit = allLimit;
  }

  /** What was found, in the order of the questions. */
  public List<Finding> of(List<Check> checks) throws InterruptedException {
    long end = System.nanoTime() + allLimit.toNanos();
    List<Finding> findings = new ArrayList<>();
    for (Check check : checks) {
      Duration left = Duration.ofNanos(end - System.nanoTime());
      findings.addAll(of(check, left.compareTo(oneLimit) < 0 ? left : oneLimit));
    }
    return findings;
  }

  private List<Finding> of(Check check, Duration limit) throws InterruptedException {
    if (limit.isNegative()) {
      return List.of(
          Finding.fail(
              check.name(),
              "not looked at: the questions before took %d s".formatted(allLimit.toSeconds()),
              "what has no answer above"));
    }
    try {
      return Limited.call(check.name(), limit, check::findings);
    } catch (ExecutionException e) {
      return List.of(
          Finding.fail(check.name(), Finding.reason(e.getCause()), "docs/troubleshooting.md"));
    } catch (TimeoutException e) {
      return List.of(
          Finding.fail(
              check.name(),
              e.getMessage(),
              "the kernel's log, and the state of disks and devices"));
    }
  }
}
