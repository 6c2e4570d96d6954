// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.BenchmarkRun;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.mapreduce.MapReduceSort;
import dev.sluice.benchmarks.terasort.SortJob.SortResult;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.NodeCluster;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Usage;
import dev.sluice.testkit.Usage.CommonOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sorts one input through Sluice and through the stock shuffle. It is the command bin/terasort,
 * which writes whether all is valid as JSON, and {@code bin/bench terasort}, which writes rows.
 * Both run it on their main thread.
 */
@Command(
    name = "terasort",
    sortOptions = false,
    description = {
      "Run TeraSort, compared with the stock shuffle",
      "Sorts TeraGen's records in executor processes on this machine, in turn through Sluice and"
          + " through the engine's own shuffle, and checks every output. The exit status is 0 only"
          + " if all outputs are valid, and no driver had more than 1 GB of memory for an input of"
          + " up to 1 GB. The output has the most that driver and command had."
    })
public final class TeraSortCommand extends Benchmark {
  private static final String OUTPUT = "output";

  /** Heap of the driver. It and this JVM, with a heap of 256 MB, took 0.7 GB for 1 GB of input. */
  private static final String DRIVER_MEMORY = "-Xmx512m";

  /** Bytes of input for a reduce task. */
  private static final long TASK_BYTES = 128_000_000;

  /** Reduce tasks for a core: the last one, which may run alone, is then 3 % of a stage. */
  private static final int TASKS_PER_CORE = 16;

  @Option(
      names = "--size",
      defaultValue = "1g",
      paramLabel = "SIZE",
      converter = Sizes.class,
      description = "Bytes to sort: 64m, 1g, ... (default: ${DEFAULT-VALUE})")
  private long size;

  @Option(
      names = "--engine",
      paramLabel = "spark|mapreduce",
      description =
          "Sort by Spark, or by Hadoop's TeraSort on NodeManagers with node daemons. With"
              + " mapreduce, --java is the JDK of daemons and reduce tasks (default:"
              + " ${DEFAULT-VALUE})")
  private String engine = "spark";

  @Option(
      names = "--executors",
      paramLabel = "N",
      description = "Executor processes, or NodeManagers (default: ${DEFAULT-VALUE})")
  private int executors = 2;

  @Option(
      names = "--cores",
      paramLabel = "N",
      description = "Tasks of each at a time (default: ${DEFAULT-VALUE})")
  private int cores = 1;

  @Option(
      names = "--memory",
      defaultValue = "2g",
      paramLabel = "SIZE",
      converter = Sizes.class,
      description = "Heap of an executor, or of a task of MapReduce (default: ${DEFAULT-VALUE})")
  private long memory;

  @Option(
      names = "--partitions",
      paramLabel = "N",
      description =
          "Reduce tasks (default: 16 per core, or one per 128 MB of input if that is more; one per"
              + " core with MapReduce)")
  private @Nullable Integer partitions;

  @Option(
      names = "--provider",
      paramLabel = "auto|verbs|soft",
      description = "Provider of READs (default: ${DEFAULT-VALUE})")
  private String provider = "auto";

  @Option(
      names = "--repeat",
      paramLabel = "N",
      description = "Sorts through each shuffle (default: ${DEFAULT-VALUE})")
  private int repeat = 3;

  @Option(
      names = "--node",
      description =
          "Let a node daemon serve the map outputs, compared with Spark's external shuffle service")
  private boolean node;

  @Option(names = "--no-stock", description = "Do not sort through the stock shuffle")
  private boolean noStock;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      description = "Setting of the engine for both shuffles")
  private Map<String, String> conf = new LinkedHashMap<>();

  @Option(
      names = "--label",
      paramLabel = "WORD",
      description = "Word to add to the names of rows of bin/bench")
  private @Nullable String label;

  @Option(
      names = "--expect-corruption",
      description = "Fail if Sluice noticed no corrupted READ; inject them by --conf")
  private boolean expectCorruption;

  private final boolean asRows;

  @SuppressWarnings("NullAway.Init") // set by measure()
  private TeraSortReport report;

  private TeraSortCommand(boolean asRows) {
    this.asRows = asRows;
  }

  /** Creates the part of bin/bench; picocli calls it. */
  public TeraSortCommand() {
    this(true);
  }

  public static void main(String[] arguments) {
    Usage.run(TeraSortCommand::alone, arguments);
  }

  /** Returns the command bin/terasort. */
  public static CommandLine alone() {
    return new CommandLine(new TeraSortCommand(false)).addMixin("common", new CommonOptions());
  }

  @Override
  protected void checkOptions() {
    if (isMapReduce() && node) {
      throw misuse("--node is for Spark: with --engine mapreduce, node daemons always serve");
    }
    if (isMapReduce() && isGiven("--spark")) {
      throw misuse("--spark does not go with --engine mapreduce, which runs no Spark");
    }
  }

  @Override
  protected void measure(Path run) throws Exception {
    Path directory = requireNonNull(run.getParent());
    TeraData data = new TeraData(directory, run, executors * cores);
    System.err.printf("input: %s of TeraGen's records under %s%n", Sizes.format(size), directory);
    TeraData.Input input = data.input(size, progress);
    report = new TeraSortReport(input, expectCorruption);
    try {
      sortAll(data, input, run);
    } catch (IOException e) {
      report.failed(e);
    }
    String suffix =
        (isMapReduce() ? "-mapreduce" : "")
            + (node ? "-node" : "")
            + (label == null ? "" : "-" + label);
    rows.addAll(report.rows("terasort-" + Sizes.format(size) + suffix));
    problems.addAll(report.problems());
    out().print(report.transfer());
  }

  @Override
  protected void write(Path file, List<Comparison> withOrigin, BenchmarkRun run)
      throws IOException {
    if (asRows) {
      super.write(file, withOrigin, run);
    } else {
      Files.writeString(file, report.json(run) + System.lineSeparator());
    }
  }

  /** Runs all sorts; the first takes longer, whichever shuffle it is, and does not count. */
  private void sortAll(TeraData data, TeraData.Input input, Path run) throws Exception {
    // Each sort that counts has a check.
    progress.expect(noStock ? 2 * repeat : 1 + 2 * Shuffle.PAIR.size() * repeat);
    if (!noStock) {
      Path warmUp = run.resolve("stock-warm-up");
      sort(input, Shuffle.STOCK, warmUp);
      Directories.delete(warmUp.resolve(OUTPUT));
    }
    for (int i = 1; i <= repeat; i++) {
      for (Shuffle shuffle : noStock ? List.of(Shuffle.SLUICE) : Shuffle.inTurn(i - 1)) {
        Path directory = run.resolve("%s-%d-of-%d".formatted(shuffle.label(), i, repeat));
        SortResult result = sort(input, shuffle, directory);
        progress.beginQuietly("check " + directory.getFileName());
        report.add(shuffle, result, data.problems(directory.resolve(OUTPUT), input));
        Directories.delete(directory.resolve(OUTPUT));
      }
    }
  }

  private SortResult sort(TeraData.Input input, Shuffle shuffle, Path directory) throws Exception {
    String name = "sort " + directory.getFileName();
    progress.beginQuietly(name);
    SortResult result =
        isMapReduce()
            ? sortByMapReduce(input, shuffle, directory)
            : sortBySpark(input, shuffle, directory);
    progress.line("%s: %.2f s, CPU %.2f s".formatted(name, result.seconds(), result.cpuSeconds()));
    return result;
  }

  private boolean isMapReduce() {
    return engine.equals("mapreduce");
  }

  private SortResult sortByMapReduce(TeraData.Input input, Shuffle shuffle, Path directory)
      throws Exception {
    int reducers = partitions != null ? partitions : executors * cores;
    MapReduceSort.Result result =
        new MapReduceSort(executors, cores, memory / 1_000_000, provider, reducers, conf)
            .run(
                shuffle,
                directory.resolve("cluster"),
                input.directory(),
                directory.resolve(OUTPUT));
    return new SortResult(
        result.seconds(), result.cpuSeconds(), SortJob.peakBytes(), result.totals());
  }

  private SortResult sortBySpark(TeraData.Input input, Shuffle shuffle, Path directory)
      throws IOException, InterruptedException {
    Path nodes = directory.resolveSibling(directory.getFileName() + "-cluster");
    try (NodeCluster own = node ? NodeCluster.start(nodes, shuffle, executors * cores) : null) {
      Map<String, String> all = new LinkedHashMap<>();
      if (own != null) {
        all.putAll(own.conf(executors, cores));
      }
      all.putAll(conf);
      return new DriverProcess(directory, DRIVER_MEMORY)
          .result(
              SortResult.class,
              SortJob.class,
              shuffle,
              new ClusterConf(executors, cores, memory / 1_000_000, provider, all),
              input.directory().toString(),
              directory.resolve(OUTPUT).toString(),
              Integer.toString(partitions != null ? partitions : defaultPartitions()));
    }
  }

  /** Enough tasks that no executor idles for long while another runs the last one. */
  private int defaultPartitions() {
    return Math.toIntExact(
        Math.max((long) TASKS_PER_CORE * executors * cores, Math.ceilDiv(size, TASK_BYTES)));
  }
}
