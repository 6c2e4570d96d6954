package dev.sluice.benchmarks.node;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.benchmarks.ClusterConf;
import dev.sluice.benchmarks.DriverProcess;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.node.NodeJob.Load;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import dev.sluice.benchmarks.node.NodeJob.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.commons.lang3.function.FailableRunnable;

/** A {@link NodeJob} in a process of its own. Used by one thread, which closes it. */
record NodeDriver(AnsweringProcess process) implements AutoCloseable {
  private static final int EXECUTOR_MB = 640;

  /**
   * Returns when its executors are there.
   *
   * @param directory must not exist
   * @param conf of the cluster, and more
   */
  static NodeDriver start(Path directory, Shuffle shuffle, Load load, Map<String, String> conf)
      throws IOException, InterruptedException {
    AnsweringProcess process =
        new DriverProcess(directory)
            .start(
                NodeJob.class,
                shuffle,
                new ClusterConf(1, 1, EXECUTOR_MB, "auto", conf),
                new ObjectMapper().writeValueAsString(load));
    return new NodeDriver(process);
  }

  Reduced reduce() throws IOException, InterruptedException {
    return process.ask(Step.REDUCE.name(), Reduced.class);
  }

  /** The same, and something happens meanwhile. */
  Reduced reduce(long strikeMs, FailableRunnable<Exception> blow)
      throws IOException, InterruptedException {
    FutureTask<Void> strike =
        new FutureTask<>(
            () -> {
              Thread.sleep(strikeMs);
              blow.run();
              return null;
            });
    Thread.startVirtualThread(strike);
    Reduced reduced = reduce();
    try {
      strike.get();
    } catch (ExecutionException e) {
      throw new IOException("what was to happen did not", e.getCause());
    }
    return reduced;
  }

  /**
   * Takes the core of one executor, so that no other task is started there any more.
   *
   * @return its process
   */
  long holdExecutor() throws IOException, InterruptedException {
    return process.ask(Step.HOLD_EXECUTOR.name(), Long.class);
  }

  void step(Step step) throws IOException, InterruptedException {
    process.ask(step.name());
  }

  @Override
  public void close() {
    process.close();
  }
}
