// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.Comparison.Pairs;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.ReadLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command bin/bench stage: measures an executor that stages for many peers, and servers next to
 * one with a slow disk. Each measurement starts its servers in {@link ServerMain} processes, which
 * have core 0. The readers are in this process, which has the other cores; both measurements share
 * them. All runs on the main thread, apart from the threads of {@link StageLoad}. Round -1 is a
 * warm-up and does not count.
 */
@Command(
    name = "stage",
    description = {
      "Measure staging of map outputs that are not registered",
      "Measures a task of an executor from which 63 peers stage, and, as root, 15 servers next to"
          + " one whose disk is slow. Uses the software provider."
    })
public final class StageCommand extends Benchmark {
  // Both numbers are in names of rows, by which goals.txt finds them.
  private static final int READERS = 63;
  private static final int SERVERS = 16;

  /** Number of readers when one of the servers is slow. */
  private static final int READERS_OF_SERVERS = 4;

  /** Size that a buffer pool has with Spark's default memory. */
  private static final long POOL_BYTES = 48 << 20;

  private static final long SLOW_BYTES_A_SECOND = 10_000_000;

  /** Length of a measurement with a slow disk, and of its warm-up. */
  private static final int SLOW_DISK_MS = 5_000;

  // 256 MiB of map outputs in all.
  private static final int MAPS = 64;
  private static final int PARTITIONS = 64;
  private static final int PARTITION_BYTES = 1 << 16;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds = 10;

  private final List<NetworkParts> readers = new ArrayList<>();
  private final Set<String> failures = new ConcurrentSkipListSet<>();

  // Set by call().
  @SuppressWarnings("NullAway.Init")
  private SampleOutputs outputs;

  @SuppressWarnings("NullAway.Init")
  private long[][] checksums;

  @Override
  protected void measure(Path directory) throws IOException, InterruptedException {
    try {
      String unavailable = ReadLimit.unavailable();
      progress.expect((unavailable == null ? 2 : 1) * (1 + rounds));
      outputs = outputs(directory.resolve("outputs"));
      checksums = outputs.write();
      useOtherCores();
      for (int i = 0; i < READERS; i++) {
        readers.add(new NetworkParts("reader-" + i, POOL_BYTES, (_, _) -> null, List.of()));
      }
      manyPeers();
      if (unavailable == null) {
        slowServer(outputs(directory.resolve("slow")));
      } else {
        progress.line("the slow disk is skipped: " + unavailable);
      }
      problems.addAll(failures);
    } finally {
      readers.forEach(NetworkParts::close);
    }
  }

  private static SampleOutputs outputs(Path directory) throws IOException {
    return new SampleOutputs(Files.createDirectory(directory), MAPS, PARTITIONS, PARTITION_BYTES);
  }

  /** Leaves core 0 to the servers. Threads that start later inherit the cores. */
  private static void useOtherCores() throws IOException {
    String cores = "1-" + Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    String self = Long.toString(ProcessHandle.current().pid());
    Commands.run(List.of("taskset", "--all-tasks", "--cpu-list", "--pid", cores, self));
  }

  private void manyPeers() throws IOException, InterruptedException {
    try (AnsweringProcess process = serve(outputs.directory())) {
      List<PeerAddress> servers = locate(process);
      for (int round = -1; round < rounds; round++) {
        begin(READERS + " peers", round);
        double alone = ownTask(process);
        double loaded;
        try (StageLoad _ = new StageLoad(readers, servers, outputs, checksums, failures)) {
          ownTask(process); // Meanwhile all tasks begin.
          loaded = ownTask(process);
        }
        Pairs counted = round < 0 ? new Pairs() : pairs;
        counted.less("stage-%d-peers-own-task".formatted(READERS), "s", loaded, "alone", alone);
      }
    }
  }

  /** Begins a round; the one before the first warms up. */
  private void begin(String part, int round) {
    progress.beginQuietly("%s: round %d of %d".formatted(part, round + 1, rounds));
  }

  private void slowServer(SampleOutputs cold) throws IOException, InterruptedException {
    String name = "stage-%d-servers-one-slow-others".formatted(SERVERS);
    cold.write();
    List<Path> same = Collections.nCopies(SERVERS - 1, outputs.directory());
    try (AnsweringProcess fast = serve(same.toArray(Path[]::new));
        AnsweringProcess slow = serve(cold.directory())) {
      List<PeerAddress> others = locate(fast);
      List<PeerAddress> all = Stream.concat(others.stream(), locate(slow).stream()).toList();
      try {
        ReadLimit.set(slow.pid(), cold.directory(), SLOW_BYTES_A_SECOND);
        for (int round = -1; round < rounds; round++) {
          begin("a slow disk", round);
          cold.dropFromCache();
          boolean slowFirst = round % 2 == 0;
          double with = slowFirst ? rate(all, others) : 0;
          double without = rate(others, others);
          with = slowFirst ? with : rate(all, others);
          Pairs counted = round < 0 ? new Pairs() : pairs;
          counted.more(name, "MB/s", with, "without-it", without);
        }
      } finally {
        ReadLimit.lift(slow.pid());
      }
    }
  }

  /** Returns the MB that some servers stage in a second while readers ask all of {@code asked}. */
  private double rate(List<PeerAddress> asked, List<PeerAddress> some) throws InterruptedException {
    List<NetworkParts> few = readers.subList(0, READERS_OF_SERVERS);
    try (StageLoad load = new StageLoad(few, asked, outputs, checksums, failures)) {
      Thread.sleep(SLOW_DISK_MS);
      long before = load.answers(some);
      Thread.sleep(SLOW_DISK_MS);
      return (load.answers(some) - before) * Stager.MAX_REQUEST_BYTES / 1e3 / SLOW_DISK_MS;
    }
  }

  private static AnsweringProcess serve(Path... directories) throws IOException {
    String[] arguments = Stream.of(directories).map(Path::toString).toArray(String[]::new);
    return AnsweringProcess.start(
        List.of("taskset", "--cpu-list", "0"), ServerMain.class, arguments);
  }

  /** Returns the addresses of its servers, once they know their map outputs. */
  private List<PeerAddress> locate(AnsweringProcess process)
      throws IOException, InterruptedException {
    process.await();
    List<PeerAddress> servers = List.of(process.ask(ServerMain.ADDRESSES, PeerAddress[].class));
    for (PeerAddress server : servers) {
      readers.getFirst().awaitMapOutputs(server, LongStream.range(0, MAPS).toArray());
    }
    return servers;
  }

  private static double ownTask(AnsweringProcess process) throws IOException, InterruptedException {
    return process.ask("", Double.class);
  }

  /**
   * The process that stages, with an executor for each argument, the directory of its map outputs.
   * It answers {@link #ADDRESSES} with the executors' addresses, and any other line with the
   * seconds that a task of its own took. {@link StageCommand} starts it on one core; its main
   * thread answers. It ends when its standard input ends.
   */
  static final class ServerMain {
    static final String ADDRESSES = "addresses";

    /** A small pool, since the servers READ nothing. */
    private static final long POOL_BYTES = 4 << 20;

    /** Number of steps that take a core about a second. */
    private static final int STEPS = 500_000_000;

    /** Result of the task, so that the compiler cannot remove it. */
    @SuppressWarnings("UnusedVariable")
    private static volatile long result;

    private ServerMain() {}

    public static void main(String[] directories) throws Exception {
      List<NetworkParts> servers = new ArrayList<>();
      for (String name : directories) {
        Path directory = Path.of(name);
        String id = ProcessHandle.current().pid() + "-" + servers.size();
        SampleOutputs outputs = new SampleOutputs(directory, 0, 0, 0);
        servers.add(new NetworkParts(id, POOL_BYTES, outputs, List.of(directory)));
      }
      AnsweringProcess.answer(
          System.out,
          line ->
              line.equals(ADDRESSES)
                  ? servers.stream().map(NetworkParts::address).toList()
                  : ownTask());
      servers.forEach(NetworkParts::close);
    }

    private static double ownTask() {
      long start = System.nanoTime();
      long state = start;
      for (int i = 0; i < STEPS; i++) {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
      }
      result = state;
      return (System.nanoTime() - start) / 1e9;
    }
  }
}
