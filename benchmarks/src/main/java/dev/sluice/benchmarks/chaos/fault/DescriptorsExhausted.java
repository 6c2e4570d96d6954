package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import dev.sluice.benchmarks.chaos.ExecutorProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** An executor has no file descriptors left for a second. */
final class DescriptorsExhausted extends Fault {
  private static final long LASTS_MS = 1_000;

  private ExecutorProcess victim;
  private int limit;

  DescriptorsExhausted() {
    super("descriptors", "no file descriptor is left to an executor, for 1 s", Moment.REDUCE);
  }

  @Override
  public int stageRetries() {
    return 8;
  }

  /** Tasks fail at once there, and are tried again at once. */
  @Override
  public Map<String, String> settings(Path directory) {
    return Map.of("spark.task.maxFailures", "2000");
  }

  @Override
  public boolean happensToStock() {
    return true;
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    ExecutorProcess struck = cluster.any(random);
    victim = struck;
    limit = struck.descriptorLimit();
    limit(struck, struck.descriptors().size() + 1);
    Thread.sleep(LASTS_MS);
    heal(cluster);
  }

  private static void limit(ExecutorProcess process, int descriptors)
      throws IOException, InterruptedException {
    new ProcessBuilder(
            "prlimit", "--pid", Long.toString(process.pid()), "--nofile=" + descriptors + ":")
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    if (victim != null) {
      limit(victim, limit);
    }
  }
}
