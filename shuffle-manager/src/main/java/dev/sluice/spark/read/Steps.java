package dev.sluice.spark.read;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * What happens to one thing, which any thread may say: handled in that order, one at a time, on
 * threads of an executor, of which none is held between.
 */
final class Steps {
  /** Never blocks. */
  interface Step {
    void run() throws IOException;
  }

  private final Executor executor;
  private final Consumer<Exception> failed;

  // Guarded by this.
  private final Queue<Step> steps = new ArrayDeque<>();
  private boolean running;

  /**
   * @param failed told, in the step's place, of what a step throws
   */
  Steps(Executor executor, Consumer<Exception> failed) {
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
    ReadPath.deliver(executor, this::run);
  }

  private void run() {
    for (Step step = next(); step != null; step = next()) {
      try {
        step.run();
      } catch (IOException | RuntimeException e) {
        failed.accept(e);
      }
    }
  }

  private synchronized Step next() {
    running = !steps.isEmpty();
    return steps.poll();
  }
}
