package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.ReadLimit;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.nio.file.Path;

/** One executor reads its disk slowly, and nothing of any map output is in the page cache. */
final class SlowDisk {
  private static final long BYTES_A_SECOND = 1_000_000;

  private long victim;

  /**
   * @return whether there is any map output yet
   */
  boolean slowDown(Cluster cluster, long executor) throws IOException {
    victim = executor;
    ReadLimit.set(victim, Path.of(cluster.setting("spark.local.dir")), BYTES_A_SECOND);
    boolean dropped = false;
    for (Path file : cluster.shuffleFiles(".data")) {
      Commands.dropFromCache(file);
      dropped = true;
    }
    return dropped;
  }

  /** Idempotent. */
  void heal() throws IOException {
    ReadLimit.lift(victim);
  }
}
