package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import dev.sluice.benchmarks.chaos.fault.Fault.Moment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Something happens to a few files of map outputs while reduce tasks read. */
final class FilesDamaged implements Blow {
  private static final int FILES = 3;

  /** What happens to one file. */
  @FunctionalInterface
  interface Damage {
    void to(Path file, Random random) throws IOException;
  }

  private final String suffix;
  private final Damage damage;
  private int damaged;

  private FilesDamaged(String suffix, Damage damage) {
    this.suffix = suffix;
    this.damage = damage;
  }

  /**
   * @param suffix of the files' names
   */
  static Fault fault(String name, String what, String suffix, Damage damage) {
    // For each file the map stage and the reduce stage, and once more where others failed then.
    return harmless(name, what, suffix, damage).shared(4 * FILES, 0);
  }

  /** Nothing is lost by it. */
  static Fault harmless(String name, String what, String suffix, Damage damage) {
    return new Fault(name, what, Moment.REDUCE, new FilesDamaged(suffix, damage))
        .shared(0, 0)
        .within(50);
  }

  @Override
  public void strike(Cluster cluster, Random random) throws Exception {
    List<Path> files = cluster.shuffleFiles(suffix);
    Collections.shuffle(files, random);
    damaged = 0;
    for (Path file : files.subList(0, Math.min(FILES, files.size()))) {
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
