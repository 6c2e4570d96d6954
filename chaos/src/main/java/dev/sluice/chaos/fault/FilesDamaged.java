// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.fault.Fault.Moment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.commons.lang3.function.FailableFunction;

/**
 * Damages a few map output files while reduce tasks read. The driver's main thread strikes; nothing
 * heals the files: Spark writes lost map outputs again, or readers use another copy.
 */
final class FilesDamaged implements FaultAction {
  private static final int FILES = 3;

  /** Damage of one file. */
  @FunctionalInterface
  interface Damage {
    void to(Path file, Random random) throws IOException;
  }

  private final FailableFunction<Cluster, List<Path>, IOException> files;
  private final Damage damage;
  private int damaged;

  FilesDamaged(FailableFunction<Cluster, List<Path>, IOException> files, Damage damage) {
    this.files = files;
    this.damage = damage;
  }

  /**
   * @param suffix suffix of the files' names
   */
  static Fault fault(String name, String what, String suffix, Damage damage) {
    // For each file the map and the reduce stage, each twice if other tasks failed meanwhile.
    return harmless(name, what, suffix, damage).shared(4 * FILES, 0);
  }

  /** Returns a fault that loses nothing. */
  static Fault harmless(String name, String what, String suffix, Damage damage) {
    FaultAction action = new FilesDamaged(cluster -> cluster.shuffleFiles(suffix), damage);
    return new Fault(name, what, Moment.REDUCE, action).shared(0, 0).within(50);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    List<Path> all = new ArrayList<>(files.apply(cluster));
    Collections.shuffle(all, random);
    damaged = 0;
    for (Path file : all.subList(0, Math.min(FILES, all.size()))) {
      if (Files.exists(file)) {
        damage.to(file, random);
        damaged++;
      }
    }
  }

  @Override
  public boolean hasStruck(Cluster cluster, boolean inTime) {
    return inTime && damaged > 0;
  }
}
