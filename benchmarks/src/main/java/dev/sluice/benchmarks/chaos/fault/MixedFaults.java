package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.Cluster;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One fault after the other, a new one every 5 to 15 s, from the first run on until the driver
 * ends, whatever runs then: what a long application sees.
 */
final class MixedFaults extends Fault {
  private static final Logger LOG = LoggerFactory.getLogger(MixedFaults.class);
  private static final int SHORTEST_PAUSE_MS = 5_000;
  private static final int LONGEST_PAUSE_MS = 15_000;
  private static final long LASTS_MS = 3_000;

  private final List<Fault> faults;
  private Thread thread;

  /**
   * @param faults that can strike at any moment, and need no settings of the cluster
   */
  MixedFaults(List<Fault> faults) {
    super("mixed", "one of the others every 5 to 15 s", Moment.BEFORE);
    this.faults = faults;
  }

  @Override
  public int stageRetries() {
    return 12;
  }

  @Override
  public void strike(Cluster cluster, Random random) {
    if (thread == null) {
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("mixed-faults")
              .start(() -> strikeForEver(cluster, random));
    }
  }

  private void strikeForEver(Cluster cluster, Random random) {
    while (true) {
      try {
        Thread.sleep(random.nextInt(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS) - LASTS_MS);
        strikeOnce(cluster, random);
      } catch (InterruptedException e) {
        return;
      } catch (Exception e) {
        LOG.info("A fault found nothing to strike: {}", e.toString());
      }
    }
  }

  private void strikeOnce(Cluster cluster, Random random) throws Exception {
    Fault fault = faults.get(random.nextInt(faults.size()));
    LOG.info("Fault: {}", fault.name());
    fault.prepare(cluster, random);
    fault.strike(cluster, random);
    Thread.sleep(LASTS_MS);
    fault.heal(cluster);
    cluster.order(Map.of(), 0, 0);
  }
}
