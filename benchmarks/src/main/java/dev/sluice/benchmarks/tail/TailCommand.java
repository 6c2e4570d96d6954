// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tail;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.math3.stat.descriptive.rank.Percentile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench tail}: run times of reduce tasks, by Sluice with one late executor
 * and by Sluice without. An executor is late if its software device delays answers to READs. It has
 * the map outputs of one peer of many: few executors take the part of many peers, which would
 * compete for the cores of one machine. For the same reason all reduce tasks run on one other
 * executor. The driver processes take turns on the main thread.
 */
@Command(
    name = "tail",
    sortOptions = false,
    description = {
      "Measure the slowest reduce tasks next to a late executor, compared with none late",
      "Uses the software provider, which delays the answers to READs of one executor.",
      "Spark's transfer is not late. The reader learns in the warm-up which peer is late."
    })
public final class TailCommand extends Benchmark {
  /** Smallest heap that Spark allows. */
  private static final int MEMORY_MB = 450;

  /** Hedged bytes of a READ byte, at most. */
  private static final double MAX_EXTRA = 0.02;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Driver processes of each kind (default: ${DEFAULT-VALUE})")
  private int rounds = 3;

  @Option(
      names = "--executors",
      paramLabel = "N",
      description = "Executors, of which one is late (default: ${DEFAULT-VALUE})")
  private int executors = 4;

  @Option(
      names = "--peers",
      paramLabel = "N",
      description =
          "The late executor, and the one that reads, have the map outputs of one of so many peers;"
              + " the others share the rest (default: ${DEFAULT-VALUE})")
  private int peers = 16;

  @Option(
      names = "--block-bytes",
      paramLabel = "N",
      description = "Bytes of a block; a task reads 4 of each peer (default: ${DEFAULT-VALUE})")
  private int blockBytes = 1 << 16;

  @Option(
      names = "--delay",
      paramLabel = "N",
      description = "Delay of a late answer in ms (default: ${DEFAULT-VALUE})")
  private int delayMs = 200;

  @Option(
      names = "--warm-up",
      paramLabel = "NUMBER",
      description = "Warm-up runs of the reduce stage in each process (default: ${DEFAULT-VALUE})")
  private int warmUp = 4;

  @Option(
      names = "--repetitions",
      paramLabel = "N",
      description = "Measured runs of the reduce stage in each process (default: ${DEFAULT-VALUE})")
  private int repetitions = 4;

  @Option(names = "--no-hedge", description = "Neither kind asks Spark's transfer for late blocks")
  private boolean noHedge;

  @Option(names = "--conf", paramLabel = "KEY=VALUE", description = "Spark setting for both kinds")
  private Map<String, String> conf = new LinkedHashMap<>();

  private final Set<Sums> sums = new LinkedHashSet<>();

  @Override
  protected void checkOptions() {
    if (executors < 3 || peers < executors || blockBytes < 1 || delayMs < 1) {
      throw misuse(
          "--executors is at least 3, --peers is at least --executors,"
              + " --block-bytes and --delay are at least 1");
    }
  }

  @Override
  protected void measure(Path directory) throws IOException, InterruptedException {
    progress.expect(2 * rounds);
    for (int round = 0; round < rounds; round++) {
      measure(directory, round);
    }
    if (sums.size() > 1) {
      problems.add("answers differ: " + sums);
    }
  }

  private void measure(Path directory, int round) throws IOException, InterruptedException {
    double[] late = {};
    double[] none = {};
    for (boolean isLate : round % 2 == 0 ? List.of(true, false) : List.of(false, true)) {
      String kind = isLate ? "late" : "none-late";
      progress.begin("tail: round %d of %d, %s".formatted(round + 1, rounds, kind));
      double[] seconds = run(directory.resolve(kind + "-" + (round + 1)), isLate);
      late = isLate ? seconds : late;
      none = isLate ? none : seconds;
    }
    add("p50", 50, late, none);
    add("p99", 99, late, none);
  }

  private void add(String name, double percentile, double[] late, double[] none) {
    Percentile value = new Percentile(percentile);
    pairs.less(
        "tail-%sone-of-%d-peers-late-%dms-%d-bytes-%s"
            .formatted(noHedge ? "no-hedge-" : "", peers, delayMs, blockBytes, name),
        "s",
        value.evaluate(late),
        "none-late",
        value.evaluate(none));
  }

  /** Returns the seconds of each reduce task. */
  private double[] run(Path directory, boolean isLate) throws IOException, InterruptedException {
    TailJob.Result result =
        new DriverProcess(directory)
            .result(
                TailJob.Result.class,
                TailJob.class,
                Shuffle.SLUICE,
                new ClusterConf(executors, 1, MEMORY_MB, "soft", settings(isLate)),
                Integer.toString(executors),
                Integer.toString(peers),
                Integer.toString(blockBytes),
                Integer.toString(warmUp),
                Integer.toString(repetitions));
    sums.addAll(result.sums());
    List<String> found =
        isLate ? lateProblems(result.totals(), !noHedge) : result.totals().problems();
    found.forEach(problem -> problems.add(directory + ": " + problem));
    return result.taskMs().stream().mapToDouble(ms -> ms / 1e3).toArray();
  }

  /** Returns what is wrong with a run that has a late executor. */
  static List<String> lateProblems(SluiceTotals totals, boolean hedge) {
    List<String> found = new ArrayList<>(totals.problems(1));
    if (hedge != totals.lateBytes() > 0) {
      found.add("Spark's transfer fetched %d late bytes".formatted(totals.lateBytes()));
    }
    if (totals.hedgeBytes() > MAX_EXTRA * totals.readBytes()) {
      found.add(
          "%d bytes were hedged, of %d READ bytes"
              .formatted(totals.hedgeBytes(), totals.readBytes()));
    }
    return found;
  }

  private Map<String, String> settings(boolean isLate) {
    Installation installation = Installation.fromEnvironment();
    Map<String, String> all = new HashMap<>();
    all.put("spark.locality.wait", "60s"); // A task waits for its executor.
    all.put("spark.shuffle.manager", LateRdmaShuffleManager.class.getName());
    all.put(
        "spark.executor.extraClassPath",
        installation.sluiceJar() + ":" + installation.programJar());
    all.put("spark.shuffle.rdma.read.hedge", Boolean.toString(!noHedge));
    if (isLate) {
      all.put(LateRdmaShuffleManager.FAULTS, "delay=1:" + delayMs);
    }
    all.putAll(conf);
    return all;
  }
}
