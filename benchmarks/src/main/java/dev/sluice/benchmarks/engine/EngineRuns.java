package dev.sluice.benchmarks.engine;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.engine.EngineLoad.Sample;
import java.io.IOException;
import java.util.List;

/**
 * The rows: what an engine does at most, by itself and with another thread that submits, what that
 * takes of its thread, and whether it keeps up with links. Closed by whoever made it.
 */
final class EngineRuns implements AutoCloseable {
  private static final List<Integer> SIZES_KIB = List.of(16, 64, 256, 1024);
  private static final List<Integer> LINKS_GIGABITS = List.of(100, 200, 400);
  private static final int FASTEST = 400;

  /** Of each, until compilers are done. */
  private static final int WARM_UP = 3;

  /** Some tenths of a second. */
  private static final int READS = 500_000;

  private static final double LINK_SECONDS = 0.3;

  private static final double CPU_GOAL_MICROS = 0.3;

  private final FakeAdapter adapter;
  private final int rounds;
  private final Pairs pairs;
  private final EngineLoad load;

  EngineRuns(FakeAdapter adapter, int rounds, Pairs pairs) throws IOException {
    this.adapter = adapter;
    this.rounds = rounds;
    this.pairs = pairs;
    load = new EngineLoad(adapter.open());
  }

  void measure() throws IOException, InterruptedException {
    for (int round = -WARM_UP; round < rounds; round++) {
      for (int kib : SIZES_KIB) {
        most(kib, round >= 0);
      }
    }
    for (int gigabits : LINKS_GIGABITS) {
      adapter.link(gigabits);
      for (int round = -1; round < rounds; round++) {
        for (int kib : SIZES_KIB) {
          link(kib, gigabits, round >= 0);
        }
      }
    }
  }

  /** Without a limit of the link. */
  private void most(int kib, boolean counts) throws IOException, InterruptedException {
    Sample sample = load.measure(kib << 10, READS);
    double cpuNanos = (double) sample.cpuNanos() / sample.reads();
    double ofAdapter = adapter.nanosOfRead(sample.meanChain());
    if (!counts) {
      return;
    }
    String size = Sizes.binary(kib << 10);
    double rate = sample.thousandsPerSecond();
    pairs.more("engine-rate-" + size, "1000/s", rate, "400Gb/s", needed(kib, FASTEST));
    double cpu = (cpuNanos - ofAdapter) / 1e3;
    pairs.less("engine-cpu-" + size, "us/READ", cpu, "goal", CPU_GOAL_MICROS);
  }

  private void link(int kib, int gigabits, boolean counts)
      throws IOException, InterruptedException {
    double needed = needed(kib, gigabits);
    Sample sample = load.measure(kib << 10, (long) (needed * 1e3 * LINK_SECONDS));
    if (!counts) {
      return;
    }
    String name = "engine-link-%dGbit-%s".formatted(gigabits, Sizes.binary(kib << 10));
    pairs.more(name, "1000/s", sample.thousandsPerSecond(), "link", needed);
    pairs.less(name + "-cpu", "cores", (double) sample.cpuNanos() / sample.nanos(), "core", 1);
  }

  /** Thousands of READs that a link brings in a second. */
  private static double needed(int kib, int gigabits) {
    return gigabits * 1e9 / 8 / (kib << 10) / 1e3;
  }

  @Override
  public void close() {
    load.close();
  }
}
