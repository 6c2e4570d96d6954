package dev.sluice.spark.read;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to one thing, which any thread may say: handled in that order, one at a time, on
 * threads of an executor, of which none is held between.
 */
final class Steps {
  private static final Logger LOG = LoggerFactory.getLogger(Steps.class);

  /** Never blocks. */
  interface Step {
    void run() throws IOException;
  }

  private final Executor executor;
  private final Consumer<Throwable> failed;

  // Guarded by this.
  private final Queue<Step> steps = new ArrayDeque<>();
  private boolean running;

  /**
   * @param failed told, in the step's place, of what a step throws
   */
  Steps(Executor executor, Consumer<Throwable> failed) {
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
      } catch (IOException | RuntimeException | Error e) { // Others have to be run, whatever it is.
        report(e);
      }
    }
  }

  private void report(Throwable e) {
    try {
      failed.accept(e);
    } catch (RuntimeException | Error e2) {
      LOG.error("What a step threw could not be handled", e2);
    }
  }

  private synchronized Step next() {
    running = !steps.isEmpty();
    return steps.poll();
  }
}
