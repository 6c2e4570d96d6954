package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.ReadLimit;
import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.io.IOException;
import java.util.Random;

/** One executor reads its disk slowly, and nothing of any map output is in the page cache. */
final class DiskSlowAtOne extends SharedFault {
  private final SlowDisk disk = new SlowDisk();
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
    dropped = disk.slowDown(cluster, cluster.any(random).pid());
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return inTime && dropped;
  }

  @Override
  public void heal(Cluster cluster) throws IOException {
    disk.heal();
  }
}
