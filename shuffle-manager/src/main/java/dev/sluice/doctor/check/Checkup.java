package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks one question after the other, whatever becomes of each: one that fails, or has no answer in
 * time, is a finding as well. A thread that hangs, mostly in the kernel, is left behind.
 */
public final class Checkup {
  private final Duration limit;

  /**
   * @param limit for each question
   */
  public Checkup(Duration limit) {
    this.limit = limit;
  }

  /** What was found, in the order of the questions. */
  public List<Finding> of(List<Check> checks) throws InterruptedException {
    List<Finding> findings = new ArrayList<>();
    for (Check check : checks) {
      findings.addAll(of(check));
    }
    return findings;
  }

  private List<Finding> of(Check check) throws InterruptedException {
    FutureTask<List<Finding>> answer = new FutureTask<>(check::findings);
    Thread thread = Thread.ofPlatform().daemon().name("doctor-" + check.name()).start(answer);
    try {
      return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      return List.of(Finding.fail(check.name(), message(e.getCause()), ""));
    } catch (TimeoutException e) {
      return List.of(
          Finding.fail(
              check.name(),
              "no answer within %d s, at %s".formatted(limit.toSeconds(), place(thread)),
              "the kernel's log, and the state of disks and devices"));
    }
  }

  private static String message(Throwable cause) {
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }

  private static String place(Thread thread) {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length == 0 ? "its end" : stack[0].toString();
  }
}
