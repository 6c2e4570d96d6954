package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.inject.Injection;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * An executor has no mappings left (vm.max_map_count) for the job's first two seconds: files cannot
 * be mapped, nor stacks of threads. It may end by that, with any shuffle.
 */
final class MappingsExhausted extends SharedFault {
  /** Of map outputs that could not be mapped. */
  private final Evidence staged = Evidence.of("registry.staged-outputs");

  MappingsExhausted() {
    super(
        "mappings",
        "no mapping is left to an executor, for 2 s",
        Moment.BEFORE,
        ExecutorKilled.STAGE_RETRIES,
        1);
  }

  @Override
  public long lastsMs() {
    return 2_000;
  }

  /** Those that write soon. */
  @Override
  public List<String> workloads() {
    return List.of("cogroup", "group-by", "sort-by-key");
  }

  @Override
  public String cluster() {
    return name();
  }

  @Override
  public void prepare(Cluster cluster, Random random) throws Exception {
    cluster.warmUp(); // What cannot be started fails for good, where it was asked for by name.
    staged.begin(cluster);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    cluster.order(
        Map.of(Injection.MAPPINGS_TAKEN, 1.0), random.nextLong(), cluster.any(random).pid());
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return staged.hasGrown(cluster) || cluster.stages().lostExecutors() > 0;
  }

  @Override
  public void heal(Cluster cluster) throws Exception {
    cluster.order(Map.of(), 0, 0);
  }
}
