// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.disk;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.disk.DiskPeers.Rates;
import dev.sluice.benchmarks.disk.SickFile.Illness;
import dev.sluice.testkit.Directories;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench disk}: measures how a sick disk affects READs of other files, and
 * the cost of asking the kernel whether bytes are cached.
 */
@Command(
    name = "disk",
    description = {
      "Measure READs of files on soft while a disk is slow or hangs",
      "A server on soft has files on a healthy disk, and one file on a disk that reads 4 MB/s or"
          + " does not answer. Measures READs of the healthy files, and the server's own READs from"
          + " a peer, with and without READs of that file. Also measures the CPU time to ask the"
          + " kernel whether bytes are cached."
    })
public final class DiskCommand implements Callable<Integer> {
  private static final List<Integer> PAGES_KIB = List.of(64, 1024);

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 7;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = Directories.ofRun("disk");
    Pairs pairs = new Pairs();
    try (DiskPeers peers = new DiskPeers(directory)) {
      for (int round = -1; round < rounds; round++) {
        Pairs counted = round < 0 ? new Pairs() : pairs; // the first round warms up
        beside(round, peers, counted);
        for (int kib : PAGES_KIB) {
          pages(round, kib, peers, counted);
        }
      }
      return output.write(pairs.comparisons());
    } finally {
      Directories.delete(directory);
    }
  }

  /** Measures each illness and, before or after it in turn, the same without it. */
  private static void beside(int round, DiskPeers peers, Pairs pairs)
      throws IOException, InterruptedException {
    for (Illness illness : Illness.values()) {
      boolean first = round % 2 == 0;
      Rates before = peers.measure(first ? illness : null);
      Rates after = peers.measure(first ? null : illness);
      Rates with = first ? before : after;
      Rates without = first ? after : before;
      String name = "disk-" + illness.name().toLowerCase(Locale.ROOT);
      more(pairs, name + "-other-files", with.otherFiles(), without.otherFiles());
      more(pairs, name + "-other-direction", with.otherDirection(), without.otherDirection());
    }
  }

  private static void more(Pairs pairs, String name, double with, double without) {
    pairs.more(name, "READs/s", with, "without-it", without);
  }

  private static void pages(int round, int kib, DiskPeers peers, Pairs pairs)
      throws IOException, InterruptedException {
    boolean first = round % 2 == 0;
    double before = peers.cpuMicros(kib << 10, first);
    double after = peers.cpuMicros(kib << 10, !first);
    String name = "disk-pages-%s-cpu".formatted(Sizes.binary(kib << 10));
    pairs.less(name, "us/READ", first ? before : after, "not-asked", first ? after : before);
  }
}
