// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.engine;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.engine.EngineLoad.Sample;
import dev.sluice.testkit.Directories;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench engine}: measures the transfer engine on an adapter that costs
 * nothing. It measures the maximum rate of READs, their CPU time, and whether the engine keeps up
 * with links. {@code goals.txt} matches names of rows. Unlimited measurements come first, because
 * nothing resets the link's rate.
 */
@Command(
    name = "engine",
    description = {
      "Measure READs by the transfer engine on a simulated adapter",
      "The adapter completes READs as fast as links of 100, 200 and 400 Gb/s. Measures the rate of"
          + " READs and the CPU time of the engine's thread. Needs gcc and rdma-core's headers, but"
          + " no RDMA device."
    })
public final class EngineCommand implements Callable<Integer> {
  private static final List<Integer> SIZES_KIB = List.of(16, 64, 256, 1024);
  private static final List<Integer> LINKS_GIGABITS = List.of(100, 200, 400);
  private static final int FASTEST = 400;

  /** Warm-up rounds of each size, until the compilers are done. */
  private static final int WARM_UP = 3;

  /** Number of READs of a measurement; they take some tenths of a second. */
  private static final int READS = 500_000;

  /** Length of a measurement at the rate of a link, in seconds. */
  private static final double LINK_SECONDS = 0.3;

  /** Goal of {@code goals.txt}: CPU time of a READ without the adapter's, in microseconds. */
  private static final double CPU_GOAL_MICROS = 0.3;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 7;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = Directories.ofRun("engine");
    Pairs pairs = new Pairs();
    try {
      FakeAdapter adapter = FakeAdapter.load(Path.of(System.getenv("SLUICE_HOME")), directory);
      try (EngineLoad load = new EngineLoad(adapter.open())) {
        measure(adapter, load, pairs);
      }
      return output.write(pairs.comparisons());
    } catch (ProviderUnavailableException e) {
      System.err.println("skipped: " + e.getMessage());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }

  private void measure(FakeAdapter adapter, EngineLoad load, Pairs pairs)
      throws IOException, InterruptedException {
    for (int round = -WARM_UP; round < rounds; round++) {
      for (int kib : SIZES_KIB) {
        most(kib, adapter, load, round < 0 ? new Pairs() : pairs);
      }
    }
    for (int gigabits : LINKS_GIGABITS) {
      adapter.link(gigabits);
      for (int round = -1; round < rounds; round++) {
        for (int kib : SIZES_KIB) {
          link(kib, gigabits, load, round < 0 ? new Pairs() : pairs);
        }
      }
    }
  }

  /** Measures without a limit by the link. */
  private static void most(int kib, FakeAdapter adapter, EngineLoad load, Pairs pairs)
      throws IOException, InterruptedException {
    Sample sample = load.measure(kib << 10, READS);
    double cpuNanos = (double) sample.cpuNanos() / sample.reads();
    double ofAdapter = adapter.nanosOfRead(sample.meanChain());
    String size = Sizes.binary(kib << 10);
    double rate = sample.thousandsPerSecond();
    pairs.more("engine-rate-" + size, "1000/s", rate, "400Gb/s", needed(kib, FASTEST));
    double cpu = (cpuNanos - ofAdapter) / 1e3;
    pairs.less("engine-cpu-" + size, "us/READ", cpu, "goal", CPU_GOAL_MICROS);
  }

  private static void link(int kib, int gigabits, EngineLoad load, Pairs pairs)
      throws IOException, InterruptedException {
    double needed = needed(kib, gigabits);
    Sample sample = load.measure(kib << 10, (long) (needed * 1e3 * LINK_SECONDS));
    String name = "engine-link-%dGbit-%s".formatted(gigabits, Sizes.binary(kib << 10));
    pairs.more(name, "1000/s", sample.thousandsPerSecond(), "link", needed);
    pairs.less(name + "-cpu", "cores", (double) sample.cpuNanos() / sample.nanos(), "core", 1);
  }

  /** Returns the thousands of READs that a link carries in a second. */
  private static double needed(int kib, int gigabits) {
    return gigabits * 1e9 / 8 / (kib << 10) / 1e3;
  }
}
