package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;

/** kill -9 of an executor, a while after a stage has begun. */
final class ExecutorKilled extends SharedFault {
  /** The map stage, and the reduce stage that failed; both again when both were under way. */
  static final int STAGE_RETRIES = 4;

  private final Map<String, String> settings;

  /**
   * @param settings of a cluster of its own; none for the one that is shared
   */
  ExecutorKilled(String name, String what, Moment moment, Map<String, String> settings) {
    super(name, what, moment, STAGE_RETRIES, 1);
    this.settings = settings;
  }

  @Override
  public String cluster() {
    return settings.isEmpty() ? super.cluster() : name();
  }

  @Override
  public Map<String, String> settings(Path directory) {
    return settings;
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    cluster.any(random).kill();
  }
}
