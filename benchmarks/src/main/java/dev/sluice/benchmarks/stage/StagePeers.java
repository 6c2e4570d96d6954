// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.stage.StageLoad.Answer;
import dev.sluice.blocks.server.Stager;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.ReadLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Executors that stage, in a process that has one core, and executors that request from them, in
 * this process, which has the other cores from then on. {@link StageCommand} creates, uses and
 * closes it on one thread. The readers live as long as it, a server process for one measurement.
 */
final class StagePeers implements AutoCloseable {
  // Both numbers are in names of rows, by which goals.txt finds them.
  private static final int READERS = 63;
  private static final int SERVERS = 16;

  /** Number of readers when one of the servers is slow. */
  private static final int READERS_OF_SERVERS = 4;

  /** Default size of a buffer pool with Spark's default memory. */
  private static final long POOL_BYTES = 48 << 20;

  /** Average pause of a task between requests, with which all tasks together READ 100 MB/s. */
  private static final int THINK_MS = 1260;

  private static final int SLOW_MB_A_SECOND = 10;

  /** Length of a measurement with a slow disk, and of its warm-up. */
  private static final int SLOW_DISK_MS = 5_000;

  // 256 MiB of map outputs in all.
  private static final int MAPS = 64;
  private static final int PARTITIONS = 64;
  private static final int PARTITION_BYTES = 1 << 16;

  private final Path directory;
  private final int rounds;
  private final SampleOutputs outputs;
  private final long[][] checksums;
  private final List<NetworkParts> readers = new ArrayList<>();
  private final Pairs pairs;
  private final Map<String, Integer> failures = new TreeMap<>();

  /** Restricts this process to the cores for readers. */
  StagePeers(Path directory, int rounds, Pairs pairs) throws IOException {
    this.pairs = pairs;
    this.directory = directory;
    this.rounds = rounds;
    outputs = outputs(Files.createDirectory(directory.resolve("outputs")));
    checksums = outputs.write();
    String cores = "1-" + Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    String self = Long.toString(ProcessHandle.current().pid());
    Commands.run(List.of("taskset", "--all-tasks", "--cpu-list", "--pid", cores, self));
    for (int i = 0; i < READERS; i++) {
      readers.add(new NetworkParts("reader-" + i, POOL_BYTES, (_, _) -> null, List.of()));
    }
  }

  private static SampleOutputs outputs(Path directory) {
    return new SampleOutputs(directory, MAPS, PARTITIONS, PARTITION_BYTES);
  }

  void measure() throws IOException, InterruptedException {
    askOneServer();
    String unavailable = ReadLimit.unavailable();
    if (unavailable == null) {
      askServersOfWhichOneIsSlow();
    } else {
      System.err.println("the slow disk is skipped: " + unavailable);
    }
  }

  /** Returns the number of refused and failed requests by cause. */
  List<String> problems() {
    return failures.entrySet().stream()
        .map(failure -> failure.getValue() + " requests failed: " + failure.getKey())
        .toList();
  }

  private void askOneServer() throws IOException, InterruptedException {
    String name = "stage-%d-peers".formatted(READERS);
    try (AnsweringProcess process = serve(outputs.directory())) {
      List<PeerAddress> servers = locate(process);
      for (int round = -1; round < rounds; round++) {
        Pairs counted = round < 0 ? new Pairs() : pairs;
        double alone = ownTask(process).seconds();
        Run one = run(readers.subList(0, 1), servers, 0, () -> ownTask(process));
        Run all = run(readers, servers, 0, () -> ownTask(process));
        Run paced = run(readers, servers, THINK_MS, () -> ownTask(process));
        counted.more(name, "MB/s", all.rate(servers), "one-peer", one.rate(servers));
        counted.less(name + "-request-p50", "ms", all.millis(0.5), "one-peer", one.millis(0.5));
        counted.less(name + "-request-p99", "ms", all.millis(0.99), "one-peer", one.millis(0.99));
        counted.less(name + "-serving-cpu", "s/GB", all.servingCpu(), "one-peer", one.servingCpu());
        counted.less(name + "-own-task", "s", all.ownTask().seconds(), "alone", alone);
        counted.less(name + "-paced-own-task", "s", paced.ownTask().seconds(), "alone", alone);
      }
    }
  }

  private void askServersOfWhichOneIsSlow() throws IOException, InterruptedException {
    String name = "stage-%d-servers-one-slow".formatted(SERVERS);
    SampleOutputs cold = outputs(Files.createDirectory(directory.resolve("slow")));
    cold.write();
    Path[] directories = new Path[SERVERS - 1];
    Arrays.fill(directories, outputs.directory());
    try (AnsweringProcess fast = serve(directories);
        AnsweringProcess process = serve(cold.directory())) {
      List<PeerAddress> others = locate(fast);
      List<PeerAddress> slow = locate(process);
      List<PeerAddress> all = Stream.concat(others.stream(), slow.stream()).toList();
      List<NetworkParts> some = readers.subList(0, READERS_OF_SERVERS);
      try {
        ReadLimit.set(process.pid(), cold.directory(), SLOW_MB_A_SECOND * 1_000_000L);
        for (int round = -1; round < rounds; round++) {
          Pairs counted = round < 0 ? new Pairs() : pairs;
          cold.cache(true);
          boolean slowFirst = round % 2 == 0;
          Run first = run(some, slowFirst ? all : others, 0, StagePeers::sleep);
          Run second = run(some, slowFirst ? others : all, 0, StagePeers::sleep);
          Run with = slowFirst ? first : second;
          Run without = slowFirst ? second : first;
          counted.more(
              name + "-others", "MB/s", with.rate(others), "without-it", without.rate(others));
          counted.more(name, "MB/s", with.rate(slow), "its-disk", SLOW_MB_A_SECOND);
        }
      } finally {
        ReadLimit.lift(process.pid());
      }
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
    long[] mapIds = LongStream.range(0, MAPS).toArray();
    for (PeerAddress server : servers) {
      List<MapOutputLocation> located =
          readers.getFirst().client().resolve(server, StageLoad.SHUFFLE, mapIds).join();
      if (located.contains(null)) {
        throw new IOException(server + " does not know all map outputs: " + located);
      }
    }
    return servers;
  }

  private static OwnTask sleep() throws InterruptedException {
    Thread.sleep(SLOW_DISK_MS);
    return new OwnTask(0, 0);
  }

  private static OwnTask ownTask(AnsweringProcess process)
      throws IOException, InterruptedException {
    return process.ask("", OwnTask.class);
  }

  /**
   * A task of the serving process.
   *
   * @param seconds elapsed time of the task
   * @param othersCpu CPU seconds of other threads of the process meanwhile
   */
  record OwnTask(double seconds, double othersCpu) {}

  /** Results of some seconds, in which the serving process ran a task of its own. */
  record Run(List<Answer> answers, double seconds, OwnTask ownTask) {
    /** Returns the CPU seconds that the serving process took for a GB. */
    double servingCpu() {
      long chunks = answers.stream().filter(answer -> answer.failure() == null).count();
      return ownTask.othersCpu() * 1e9 / chunks / Stager.MAX_REQUEST_BYTES;
    }

    /** Returns the rate of some servers in MB/s. */
    double rate(List<PeerAddress> servers) {
      long chunks =
          answers.stream()
              .filter(answer -> answer.failure() == null && servers.contains(answer.server()))
              .count();
      return chunks * Stager.MAX_REQUEST_BYTES / 1e6 / seconds;
    }

    /** Returns the milliseconds within which this part of all requests was answered. */
    double millis(double part) {
      long[] nanos = answers.stream().mapToLong(Answer::nanos).sorted().toArray();
      return nanos[(int) Math.ceil(part * nanos.length) - 1] / 1e6;
    }
  }

  /** Work that takes a while, during which a load is measured. */
  private interface Meanwhile {
    OwnTask take() throws IOException, InterruptedException;
  }

  private Run run(
      List<NetworkParts> of, List<PeerAddress> servers, int thinkMs, Meanwhile meanwhile)
      throws IOException, InterruptedException {
    StageLoad load = new StageLoad(of, servers, outputs, checksums, thinkMs);
    try (load) {
      meanwhile.take(); // until all tasks have begun
      int before = load.answers().size();
      long start = System.nanoTime();
      OwnTask took = meanwhile.take();
      double seconds = (System.nanoTime() - start) / 1e9;
      List<Answer> answers = load.answers();
      return new Run(answers.subList(before, answers.size()), seconds, took);
    } finally {
      load.answers().stream()
          .filter(answer -> answer.failure() != null)
          .forEach(answer -> failures.merge(answer.failure(), 1, Integer::sum));
    }
  }

  @Override
  public void close() {
    readers.forEach(NetworkParts::close);
  }
}
