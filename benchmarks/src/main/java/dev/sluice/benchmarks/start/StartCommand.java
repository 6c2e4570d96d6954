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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench start}: executors from the start of their processes to their first
 * blocks, by Sluice and stock. With {@code --java} it also compares Sluice on that JDK with Sluice
 * on the JDK that builds it, and with {@code --cache} executors with and without a {@link
 * ClassCache}.
 */
@Command(
    name = "start",
    sortOptions = false,
    description = {
      "Measure new executors up to their first blocks, compared with the stock shuffle",
      "With --java also Sluice on that JDK, compared with Sluice on the JDK that builds it.",
      "With --cache also both with a file of classes, compared with each other and without."
    })
public final class StartCommand extends Benchmark {
  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 1000;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Driver processes of each kind (default: ${DEFAULT-VALUE})")
  private int rounds = 7;

  @Option(
      names = "--cache",
      paramLabel = "aot|archive",
      description = "Executors also start from an AOT cache or from an archive of classes")
  private @Nullable ClassCache cache;

  private final Set<Sums> sums = new LinkedHashSet<>();

  /** A driver process: its shuffle, and the JVM of its executors. */
  private enum Kind {
    SLUICE(Shuffle.SLUICE),
    STOCK(Shuffle.STOCK),
    SLUICE_ON_BUILD_JDK(Shuffle.SLUICE),
    SLUICE_WITH_CACHE(Shuffle.SLUICE),
    STOCK_WITH_CACHE(Shuffle.STOCK);

    private final Shuffle shuffle;

    Kind(Shuffle shuffle) {
      this.shuffle = shuffle;
    }
  }

  @Override
  protected void checkOptions() {
    if (cache == ClassCache.AOT && Runtime.version().feature() < 25) {
      throw misuse("--cache aot needs JDK 25 or newer; --cache archive does not");
    }
  }

  @Override
  protected void measure(Path directory) throws IOException, InterruptedException {
    List<Kind> kinds = kinds();
    progress.expect(rounds * kinds.size() + (cache == null ? 0 : Shuffle.PAIR.size()));
    if (cache != null) {
      for (Shuffle shuffle : Shuffle.PAIR) {
        progress.begin("start: training, " + shuffle.label());
        Training.run(place(directory), shuffle, cache.writing(file(directory, shuffle)));
        Files.move(place(directory), directory.resolve("training-" + shuffle.label()));
      }
    }
    for (int round = 0; round < rounds; round++) {
      measure(directory, round, kinds);
    }
    if (sums.size() > 1) {
      problems.add("answers differ: " + sums);
    }
  }

  /**
   * Returns the directory in which all drivers run, one after the other: a JVM refuses a cache if
   * its class path has other names than that of the training.
   */
  private static Path place(Path directory) {
    return directory.resolve("driver");
  }

  private static Path file(Path directory, Shuffle shuffle) {
    return directory.resolve(shuffle.label() + ".classes");
  }

  private List<Kind> kinds() throws IOException {
    List<Kind> kinds = new ArrayList<>(List.of(Kind.SLUICE, Kind.STOCK));
    if (!Files.isSameFile(Path.of(buildJdk()), Path.of(System.getProperty("java.home")))) {
      kinds.add(Kind.SLUICE_ON_BUILD_JDK);
    }
    if (cache != null) {
      kinds.addAll(List.of(Kind.SLUICE_WITH_CACHE, Kind.STOCK_WITH_CACHE));
    }
    return kinds;
  }

  private void measure(Path directory, int round, List<Kind> kinds)
      throws IOException, InterruptedException {
    Map<Kind, StartJob.Result> results = new EnumMap<>(Kind.class);
    for (Kind kind : round % 2 == 0 ? kinds : kinds.reversed()) {
      progress.begin("start: round %d of %d, %s".formatted(round + 1, rounds, kind));
      results.put(kind, run(directory, kind + "-" + (round + 1), kind));
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
    if (cache != null) {
      StartJob.Result cached = requireNonNull(results.get(Kind.SLUICE_WITH_CACHE));
      add(cache.row(), cached, "without", sluice);
      add(
          cache.row() + "-both",
          cached,
          "stock",
          requireNonNull(results.get(Kind.STOCK_WITH_CACHE)));
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

  private StartJob.Result run(Path directory, String name, Kind kind)
      throws IOException, InterruptedException {
    StartJob.Result result =
        new DriverProcess(place(directory))
            .result(
                StartJob.Result.class,
                StartJob.class,
                kind.shuffle,
                new ClusterConf(EXECUTORS, 1, MEMORY_MB, "auto", conf(directory, kind)));
    Path kept = directory.resolve(name);
    Files.move(place(directory), kept);
    sums.add(result.sums());
    if (kind.shuffle == Shuffle.SLUICE) {
      result.totals().problems().forEach(problem -> problems.add(kept + ": " + problem));
    }
    return result;
  }

  private Map<String, String> conf(Path directory, Kind kind) {
    return switch (kind) {
      case SLUICE, STOCK -> Map.of();
      case SLUICE_ON_BUILD_JDK -> Map.of("spark.executorEnv.JAVA_HOME", buildJdk());
      case SLUICE_WITH_CACHE, STOCK_WITH_CACHE ->
          requireNonNull(cache).using(file(directory, kind.shuffle));
    };
  }

  /** Returns the home of the JDK that builds Sluice, which bin/lib.sh exports. */
  private static String buildJdk() {
    return System.getenv("JAVA_HOME");
  }
}
