// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.start;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench start}: executors from the start of their processes to their first
 * blocks, by Sluice and stock. With {@code --java} it also compares Sluice on that JDK with Sluice
 * on the JDK that builds it.
 */
@Command(
    name = "start",
    sortOptions = false,
    description = {
      "Measure new executors up to their first blocks, compared with the stock shuffle",
      "With --java also Sluice on that JDK, compared with Sluice on the JDK that builds it."
    })
public final class StartCommand extends Benchmark {
  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 1000;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Driver processes of each kind (default: ${DEFAULT-VALUE})")
  private int rounds = 7;

  private final Set<Sums> sums = new LinkedHashSet<>();

  /** A driver process: its shuffle, and the JDK of its executors. */
  private enum Kind {
    SLUICE(Shuffle.SLUICE),
    STOCK(Shuffle.STOCK),
    SLUICE_ON_BUILD_JDK(Shuffle.SLUICE);

    private final Shuffle shuffle;

    Kind(Shuffle shuffle) {
      this.shuffle = shuffle;
    }
  }

  @Override
  protected void measure(Path directory) throws IOException, InterruptedException {
    List<Kind> kinds = kinds();
    progress.expect(rounds * kinds.size());
    for (int round = 0; round < rounds; round++) {
      measure(directory, round, kinds);
    }
    if (sums.size() > 1) {
      problems.add("answers differ: " + sums);
    }
  }

  private static List<Kind> kinds() throws IOException {
    List<Kind> kinds = new ArrayList<>(List.of(Kind.SLUICE, Kind.STOCK));
    if (!Files.isSameFile(Path.of(buildJdk()), Path.of(System.getProperty("java.home")))) {
      kinds.add(Kind.SLUICE_ON_BUILD_JDK);
    }
    return kinds;
  }

  private void measure(Path directory, int round, List<Kind> kinds)
      throws IOException, InterruptedException {
    Map<Kind, StartJob.Result> results = new EnumMap<>(Kind.class);
    for (Kind kind : round % 2 == 0 ? kinds : kinds.reversed()) {
      progress.begin("start: round %d of %d, %s".formatted(round + 1, rounds, kind));
      results.put(kind, run(directory.resolve(kind + "-" + (round + 1)), kind));
    }
    StartJob.Result sluice = requireNonNull(results.get(Kind.SLUICE));
    add("start", sluice, "stock", requireNonNull(results.get(Kind.STOCK)));
    if (kinds.contains(Kind.SLUICE_ON_BUILD_JDK)) {
      add(
          "start-jdk",
          sluice,
          "java of the build",
          requireNonNull(results.get(Kind.SLUICE_ON_BUILD_JDK)));
    }
  }

  private void add(
      String name, StartJob.Result sluice, String partner, StartJob.Result partnerResult) {
    pairs.less(
        name + "-first-block",
        "s",
        sluice.firstBlockSeconds(),
        partner,
        partnerResult.firstBlockSeconds());
    pairs.less(
        name + "-reduce-stage",
        "s",
        sluice.reduceStageSeconds(),
        partner,
        partnerResult.reduceStageSeconds());
    pairs.less(name + "-cpu", "s", sluice.cpuSeconds(), partner, partnerResult.cpuSeconds());
  }

  private StartJob.Result run(Path directory, Kind kind) throws IOException, InterruptedException {
    Map<String, String> conf =
        kind == Kind.SLUICE_ON_BUILD_JDK
            ? Map.of("spark.executorEnv.JAVA_HOME", buildJdk())
            : Map.of();
    StartJob.Result result =
        new DriverProcess(directory)
            .result(
                StartJob.Result.class,
                StartJob.class,
                kind.shuffle,
                new ClusterConf(EXECUTORS, 1, MEMORY_MB, "auto", conf));
    sums.add(result.sums());
    if (kind.shuffle == Shuffle.SLUICE) {
      result.totals().problems().forEach(problem -> problems.add(directory + ": " + problem));
    }
    return result;
  }

  /** Returns the home of the JDK that builds Sluice, which bin/lib.sh exports. */
  private static String buildJdk() {
    return System.getenv("JAVA_HOME");
  }
}
