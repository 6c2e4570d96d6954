package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.cluster.ExecutorProcess;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** An executor has no file descriptors left for a second. */
final class DescriptorsExhausted extends SharedFault {
  private ExecutorProcess victim;
  private int limit;

  DescriptorsExhausted() {
    super("descriptors", "no file descriptor is left to an executor, for 1 s", Moment.REDUCE, 8);
  }

  @Override
  public long lastsMs() {
    return 1_000;
  }

  @Override
  public String cluster() {
    return name();
  }

  /** Tasks fail at once there, and are tried again at once. */
  @Override
  public Map<String, String> settings(Path directory) {
    return Map.of("spark.task.maxFailures", "2000");
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    victim = cluster.any(random);
    limit = victim.descriptorLimit();
    victim.limitDescriptors(victim.descriptors().size() + 1);
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    if (victim != null) {
      victim.limitDescriptors(limit);
      victim = null;
    }
  }
}
