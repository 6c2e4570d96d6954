// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Account of one of Spark's own suites: the manager that its applications used, and its blocks by
 * path. {@link BlockListener} adds a line to a file when an application ends; this JVM runs one
 * suite. The suite settles the account after all its tests. Settling prints the sums, and fails if
 * blocks took a path that they must not take.
 */
public final class BlockAccount {
  private static final String RDMA = "dev.sluice.spark.RdmaShuffleManager";

  private BlockAccount() {}

  /** Prints the suite's blocks by path. Checks them, unless the suite ran on the stock manager. */
  public static void settle(Class<?> suite) {
    List<String> managers = lines().stream().map(line -> line.split("\t")[0]).distinct().toList();
    Totals totals = lines().stream().map(BlockAccount::totals).reduce(Totals.NONE, Totals::plus);
    System.out.printf("Blocks of %s: %s, by %s%n", suite.getSimpleName(), totals, managers);
    if (System.getProperty("spark.shuffle.manager").equals(RDMA)) {
      check(suite.getSimpleName(), managers, totals);
    }
  }

  static void check(String suite, List<String> managers, Totals totals) {
    Deviation allowed = Deviation.of(suite);
    assertThat(managers).as("shuffle managers that %s ran on", suite).containsOnly(RDMA);
    if (allowed.reads()) {
      assertThat(totals.read()).as("blocks READ by %s", suite).isPositive();
    }
    assertThat(allowed.fallback())
        .as("why blocks of %s went by Spark's own transfer: %s", suite, totals)
        .containsAll(totals.fallbackByReason().keySet());
  }

  static void note(String manager, Totals totals) {
    String line =
        totals.counters().entrySet().stream()
            .map(e -> e.getKey() + "=" + e.getValue())
            .collect(Collectors.joining(" ", manager + "\t", "\n"));
    try {
      Files.createDirectories(file().getParent());
      Files.writeString(file(), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("Writing " + file(), e);
    }
  }

  private static List<String> lines() {
    try {
      return Files.exists(file()) ? Files.readAllLines(file()) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException("Reading " + file(), e);
    }
  }

  private static Totals totals(String line) {
    Map<String, Long> counters = new TreeMap<>();
    for (String counter : line.substring(line.indexOf('\t') + 1).split(" ")) {
      if (!counter.isEmpty()) {
        String[] parts = counter.split("=");
        counters.put(parts[0], Long.valueOf(parts[1]));
      }
    }
    return new Totals(counters);
  }

  private static Path file() {
    long process = ProcessHandle.current().pid();
    return Path.of(System.getProperty("sluice.target"), "blocks-by-path", process + ".tsv");
  }
}
