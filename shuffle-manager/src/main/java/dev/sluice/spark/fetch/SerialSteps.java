// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the events of one object in their order, one at a time, on threads of an executor. {@link
 * LargeBlockRead} has one, on delivery threads. Any thread adds events, also a step itself. No
 * thread is held between them, and no lock while a step runs.
 */
final class SerialSteps {
  private static final Logger LOG = LoggerFactory.getLogger(SerialSteps.class);

  /** A step. It waits for nothing but a disk. */
  interface Step {
    void run() throws IOException;
  }

  private final Executor executor;
  private final Consumer<Throwable> failed;

  // Guarded by this.
  private final Queue<Step> steps = new ArrayDeque<>();

  /** True while a thread runs steps, or is about to. */
  private boolean running;

  /**
   * @param failed takes an exception that a step throws
   */
  SerialSteps(Executor executor, Consumer<Throwable> failed) {
    this.executor = executor;
    this.failed = failed;
  }

  void add(Step step) {
    synchronized (this) {
      steps.add(step);
      if (running) {
        return;
      }
      running = true;
    }
    executor.execute(this::run);
  }

  private void run() {
    for (Step step = next(); step != null; step = next()) {
      try {
        step.run();
      } catch (IOException | RuntimeException | Error e) { // The other steps still have to run.
        report(e);
      }
    }
  }

  private void report(Throwable e) {
    try {
      failed.accept(e);
    } catch (RuntimeException | Error e2) {
      LOG.error("Handling the exception of a step failed", e2);
    }
  }

  private synchronized Step next() {
    running = !steps.isEmpty();
    return steps.poll();
  }
}
