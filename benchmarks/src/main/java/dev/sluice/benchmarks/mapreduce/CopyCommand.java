// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.mapreduce.CopyJob.Copied;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import dev.sluice.testkit.hadoop.ShuffleNodes;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench mapreduce}: the copy phase of MapReduce's reduce tasks, by Sluice
 * and by Hadoop's own shuffle, from the same two nodes.
 */
@Command(
    name = "mapreduce",
    sortOptions = false,
    description = {
      "Measure the copy phase of MapReduce's reduce tasks, compared with Hadoop's own shuffle",
      "Reduce tasks of one process copy map outputs, one task after the other, from two processes"
          + " with Hadoop's ShuffleHandler and the node daemon. Copies that warm up register the map"
          + " outputs. --java is the JDK of all processes."
    })
public final class CopyCommand extends Benchmark {
  private static final int NODES = 2;

  /** Heap of the process of the reduce tasks. */
  private static final String HEAP = "-Xmx2g";

  /** Memory that a reduce task is told to have, so that it keeps its map outputs in memory. */
  private static final long TASK_BYTES = 1_200_000_000;

  @Option(
      names = "--maps",
      paramLabel = "N",
      description = "Map outputs (default: ${DEFAULT-VALUE})")
  private int maps = 1000;

  @Option(
      names = "--reducers",
      paramLabel = "N",
      description = "Reduce tasks (default: ${DEFAULT-VALUE})")
  private int reducers = 8;

  @Option(
      names = "--partition-bytes",
      paramLabel = "N",
      description = "Bytes of a map output for one reduce task (default: ${DEFAULT-VALUE})")
  private int partitionBytes = 4096;

  @Option(names = "--compressed", description = "Compress map outputs by Snappy")
  private boolean compressed;

  @Option(
      names = "--provider",
      paramLabel = "auto|verbs|soft",
      description = "Provider of READs (default: ${DEFAULT-VALUE})")
  private String provider = "auto";

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Processes of each shuffle (default: ${DEFAULT-VALUE})")
  private int rounds = 5;

  @Option(
      names = "--warm-up",
      paramLabel = "NUMBER",
      description =
          "Copies by all reduce tasks that are not measured, 1 at least (default:"
              + " ${DEFAULT-VALUE})")
  private int warmUp = 5;

  @Option(
      names = "--repetitions",
      paramLabel = "N",
      description = "Copies that count in each process (default: ${DEFAULT-VALUE})")
  private int repetitions = 3;

  @Option(
      names = "--from-memory",
      description =
          "Have Sluice's reduce tasks take map outputs from their own memory in place of READs:"
              + " Hadoop's part of a copy, which no transport can undercut")
  private boolean fromMemory;

  private final String secret = Base64.getEncoder().encodeToString(new byte[20]);
  private final Set<Sums> sums = new LinkedHashSet<>();
  private final Set<Long> fetchedBytes = new LinkedHashSet<>();

  /**
   * Result of one process.
   *
   * @param seconds time of a copy
   * @param cpuSeconds CPU time of readers and nodes for a copy
   * @param firstBytesSeconds time from the start of the process to its first map output
   * @param firstSeconds time of the first copy, when neither JVM nor node is warm
   */
  private record Round(
      double seconds, double cpuSeconds, double firstBytesSeconds, double firstSeconds) {}

  @Override
  protected void checkOptions() {
    if (isGiven("--spark")) {
      throw misuse("--spark does not go with mapreduce, which runs no Spark");
    }
  }

  @Override
  protected void measure(Path directory) throws Exception {
    Path root = Path.of(System.getenv("SLUICE_HOME"));
    MapOutputs outputs = new MapOutputs(maps, reducers, partitionBytes, compressed);
    try (ShuffleNodes nodes = new ShuffleNodes(directory.resolve("nodes"), root, NODES)) {
      progress.line("mapreduce: writing %d map outputs".formatted(maps));
      outputs.write(nodes::folder, directory.resolve("map-task"));
      nodes.start(secret, provider);
      MemoryHome memory = new MemoryHome(directory.resolve("memory"));
      if (fromMemory) {
        memory.write(IntStream.range(0, maps).mapToObj(nodes::folder).toList());
      }
      progress.expect(rounds * Shuffle.PAIR.size());
      for (int round = 0; round < rounds; round++) {
        Map<Shuffle, Round> results = new EnumMap<>(Shuffle.class);
        for (Shuffle shuffle : Shuffle.inTurn(round)) {
          progress.begin(
              "mapreduce: round %d of %d, %s".formatted(round + 1, rounds, shuffle.label()));
          Path folder = directory.resolve(shuffle.label() + "-" + (round + 1));
          JobConf conf = conf(nodes, outputs, shuffle, folder);
          if (fromMemory && shuffle == Shuffle.SLUICE) {
            memory.configure(conf);
          }
          results.put(shuffle, run(nodes, conf, shuffle, folder));
        }
        add(
            requireNonNull(results.get(Shuffle.SLUICE)),
            requireNonNull(results.get(Shuffle.STOCK)));
      }
    }
    if (fetchedBytes.size() != 1) {
      problems.add("copies had different numbers of bytes: " + fetchedBytes);
    }
    if (sums.size() != 1 || sums.iterator().next().records() != outputs.records()) {
      problems.add("%d records were written, but read were %s".formatted(outputs.records(), sums));
    }
  }

  private void add(Round sluice, Round stock) {
    String name =
        "mapreduce-copy-%dx%d-%s%s%s%s"
            .formatted(
                maps,
                reducers,
                Sizes.binary(partitionBytes),
                compressed ? "-compressed" : "",
                fromMemory ? "-from-memory" : "",
                provider.equals("verbs") ? "-verbs" : "");
    String partner = Shuffle.STOCK.label();
    pairs.less(name + "-time", "s", sluice.seconds, partner, stock.seconds);
    pairs.less(name + "-cpu", "s", sluice.cpuSeconds, partner, stock.cpuSeconds);
    pairs.less(
        name + "-first-bytes", "s", sluice.firstBytesSeconds, partner, stock.firstBytesSeconds);
    pairs.less(name + "-first", "s", sluice.firstSeconds, partner, stock.firstSeconds);
  }

  private Round run(ShuffleNodes nodes, JobConf conf, Shuffle shuffle, Path folder)
      throws IOException, InterruptedException {
    try (AnsweringProcess reducer = start(nodes, conf, shuffle, folder)) {
      reducer.await();
      Copied first = copy(reducer, CopyJob.CHECK, shuffle);
      sums.add(first.sums());
      for (int i = 1; i < warmUp; i++) {
        copy(reducer, CopyJob.MEASURE, shuffle);
      }
      double seconds = 0;
      double cpuSeconds = -nodes.cpuSeconds();
      for (int i = 0; i < repetitions; i++) {
        Copied copied = copy(reducer, CopyJob.MEASURE, shuffle);
        seconds += copied.seconds();
        cpuSeconds += copied.cpuSeconds();
      }
      cpuSeconds += nodes.cpuSeconds();
      reducer.end();
      return new Round(
          seconds / repetitions,
          cpuSeconds / repetitions,
          first.firstBytesSeconds(),
          first.seconds());
    }
  }

  private Copied copy(AnsweringProcess reducer, String question, Shuffle shuffle)
      throws IOException, InterruptedException {
    Copied copied = reducer.ask(question, Copied.class);
    fetchedBytes.add(copied.fetchedBytes());
    if (copied.failedFetches() > 0) {
      problems.add(
          "%s: fetches failed %d times, after which Hadoop waits"
              .formatted(shuffle.label(), copied.failedFetches()));
    }
    if (shuffle == Shuffle.SLUICE && copied.readBytes() != copied.fetchedBytes()) {
      problems.add(
          "%d of %d bytes came by READ".formatted(copied.readBytes(), copied.fetchedBytes()));
    }
    return copied;
  }

  private JobConf conf(ShuffleNodes nodes, MapOutputs outputs, Shuffle shuffle, Path folder) {
    JobConf conf = new JobConf();
    nodes.job(shuffle).forEach(conf::set);
    outputs.configure(conf);
    conf.set(MRConfig.LOCAL_DIR, folder.resolve("local").toString());
    conf.set("sluice.mapreduce.provider", provider);
    conf.setLong("mapreduce.reduce.memory.totalbytes", TASK_BYTES);
    conf.set("mapreduce.reduce.input.buffer.percent", "1.0");
    return conf;
  }

  private AnsweringProcess start(ShuffleNodes nodes, JobConf conf, Shuffle shuffle, Path folder)
      throws IOException {
    Files.createDirectories(folder);
    Path file = folder.resolve("job.xml");
    try (OutputStream xml = Files.newOutputStream(file)) {
      conf.writeXml(xml);
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                HEAP,
                "-cp",
                nodes.plugin() + File.pathSeparator + System.getProperty("java.class.path"),
                CopyJob.class.getName(),
                file.toString(),
                Long.toString(System.currentTimeMillis()),
                secret));
    for (int node = 0; node < NODES; node++) {
      command.add(nodes.host(node));
    }
    Path log = folder.resolve("reducers.log");
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
    // As NodeManagers tell their tasks: the address at which the reader listens.
    builder.environment().put("NM_HOST", nodes.host(0).split(":")[0]);
    return new AnsweringProcess(
        builder.start(),
        reason ->
            new IOException("%s: the reduce tasks %s; see %s".formatted(shuffle, reason, log)));
  }
}
