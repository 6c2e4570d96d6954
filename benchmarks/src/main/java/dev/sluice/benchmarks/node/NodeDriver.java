// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.node.NodeJob.Load;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import dev.sluice.benchmarks.node.NodeJob.Step;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.commons.lang3.function.FailableRunnable;

/**
 * A {@link NodeJob} in a process. {@link LostExecutors}, {@link StoppedServers} and {@link
 * NodeLevels} use and close it on the command's thread, one request at a time.
 */
record NodeDriver(AnsweringProcess process) implements AutoCloseable {
  private static final int EXECUTOR_MB = 640;

  /**
   * Starts the driver; returns when its executors are ready.
   *
   * @param directory directory of the process, which must not exist
   * @param conf settings of the cluster and further ones
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

  /**
   * Does the same while a virtual thread runs the blow after {@code strikeMs}; returns when both
   * are over.
   *
   * @throws IOException also if the blow failed; the job's result is lost then
   */
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
      throw new IOException("the fault could not be caused: " + e.getCause(), e.getCause());
    }
    return reduced;
  }

  /**
   * Occupies the core of one executor, so that no other task starts there.
   *
   * @return the executor's process id
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
