// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.ReadLimit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * Limits the disk reads of one executor, and drops all map outputs from the page cache. The
 * driver's main thread strikes and heals; {@link AtEvent} strikes the same victim at an event.
 */
final class SlowDisk implements FaultAction {
  /** The rate that the descriptions in {@link Faults} name. */
  private static final long BYTES_A_SECOND = 1_000_000;

  private long victim;
  private boolean dropped;

  /** Returns the victim's process id. */
  long victim() {
    return victim;
  }

  @Override
  public String unavailable(String provider) {
    return ReadLimit.unavailable();
  }

  @Override
  public void strike(Cluster cluster, Random random) throws IOException {
    victim = cluster.any(random).pid();
    ReadLimit.set(victim, Path.of(cluster.setting("spark.local.dir")), BYTES_A_SECOND);
    List<Path> outputs = cluster.shuffleFiles(".data");
    for (Path file : outputs) {
      Commands.dropFromCache(file);
    }
    dropped = !outputs.isEmpty();
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
