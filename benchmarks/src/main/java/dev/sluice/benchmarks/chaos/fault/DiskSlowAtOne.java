package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.Commands;
import dev.sluice.benchmarks.ReadLimit;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;

/** One executor reads its disk slowly, and nothing of any map output is in the page cache. */
final class DiskSlowAtOne extends SharedFault {
  private static final long BYTES_A_SECOND = 1_000_000;

  private long victim;
  private boolean dropped;

  DiskSlowAtOne() {
    super("disk-slow-at-one", "one executor's disk gives 1 MB/s for 3 s", Moment.REDUCE, 0);
  }

  @Override
  public String unavailable(String provider) {
    return ReadLimit.unavailable();
  }

  @Override
  public int delayMs(Random random) {
    return random.nextInt(50);
  }

  @Override
  public long lastsMs() {
    return 3_000;
  }

  @Override
  public void strike(Cluster cluster, Random random) throws IOException {
    victim = cluster.any(random).pid();
    ReadLimit.set(victim, Path.of(cluster.setting("spark.local.dir")), BYTES_A_SECOND);
    dropped = false;
    for (Path file : cluster.shuffleFiles(".data")) {
      Commands.dropFromCache(file);
      dropped = true;
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return inTime && dropped;
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    ReadLimit.lift(victim);
  }
}
