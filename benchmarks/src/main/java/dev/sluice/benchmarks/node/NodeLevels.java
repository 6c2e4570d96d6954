// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.node.NodeJob.Load;
import dev.sluice.benchmarks.node.NodeJob.Step;
import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.NodeProcess;
import dev.sluice.testkit.Shuffle;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Measures the resources that a node daemon holds: with sixteen executors against one, and after
 * many applications against half of them. {@link NodeCommand} calls it on its thread. Both parts
 * start a {@link NodeCluster} of their own and close it.
 */
record NodeLevels(Path directory, Pairs pairs) {
  private static final int MANY_EXECUTORS = 16;

  /** Time by which the descriptors of ended executors are closed. */
  private static final long SETTLE_MS = 3_000;

  private static final Load ALL_WRITE = new Load(64, 16, 10_000, 200);
  private static final Load SMALL = new Load(4, 4, 10_000, 0);

  /** Number of executors; each READs the map outputs of the other. */
  private static final int READERS = 2;

  /** One application in so many runs on Spark with its own executors. */
  private static final int SPARK_EVERY = 50;

  /**
   * @param queuePairs queue pairs that were created for its readers
   */
  private record Connected(long queuePairs, long sockets) {}

  void executors() throws IOException, InterruptedException {
    Connected many = connected(MANY_EXECUTORS);
    Connected one = connected(1);
    less("executors-queue-pairs", "queue pairs", many.queuePairs(), "one", one.queuePairs());
    less("executors-sockets", "sockets", many.sockets(), "one", one.sockets());
  }

  /** Lets one executor read the map outputs of so many ended ones. */
  private Connected connected(int executors) throws IOException, InterruptedException {
    Path own = directory.resolve("executors-" + executors);
    try (NodeCluster cluster = NodeCluster.here(own, Shuffle.SLUICE, executors);
        NodeDriver driver =
            NodeDriver.start(
                own.resolve("driver"), Shuffle.SLUICE, ALL_WRITE, cluster.conf(executors, 1))) {
      driver.reduce();
      driver.step(Step.ONE_EXECUTOR);
      NodeProcess node = cluster.blocks();
      long before = node.metric("queue_pairs_total");
      driver.reduce();
      Thread.sleep(SETTLE_MS);
      return new Connected(node.metric("queue_pairs_total") - before, sockets(node));
    }
  }

  private static long sockets(NodeProcess node) throws IOException {
    return ExecutorProcess.of(node).descriptors().stream()
        .filter(to -> to.startsWith("socket:"))
        .count();
  }

  /**
   * Amount of a resource that the daemon holds for the present application and the earlier ones.
   */
  private record Level(String what, String unit, long value) {
    static List<Level> of(NodeProcess node) throws IOException {
      ExecutorProcess process = ExecutorProcess.of(node);
      long heapBytes = liveHeapBytes(node.pid()); // collects garbage
      return List.of(
          new Level("descriptors", "files", process.descriptors().size()),
          new Level("mappings", "mapped files", process.mappedFiles().size()),
          new Level("heap", "bytes", heapBytes),
          new Level("resident", "KiB", process.residentKib()),
          new Level("regions", "regions", node.metric("registered_regions")),
          new Level("disk", "bytes", diskBytes(node.folder().resolveSibling("local"))));
    }

    private static long liveHeapBytes(long pid) throws IOException {
      Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
      ProcessBuilder histogram =
          new ProcessBuilder(jcmd.toString(), Long.toString(pid), "GC.class_histogram");
      try (BufferedReader out = histogram.start().inputReader()) {
        String total = out.lines().filter(line -> line.startsWith("Total")).findFirst().orElse("");
        return Long.parseLong(total.strip().replaceAll(".* ", ""));
      }
    }

    /** Returns the bytes in the daemon's folder {@code .sluice}; other files are of executors. */
    private static long diskBytes(Path local) throws IOException {
      long bytes = 0;
      try (Stream<Path> files = Files.walk(local.resolve(".sluice"))) {
        for (Path file : files.toList()) {
          bytes += Files.isRegularFile(file) ? Files.size(file) : 0;
        }
      }
      return bytes;
    }
  }

  /**
   * Compares levels after all applications with those after half of them: by then classes are
   * loaded and compiled, and pools have their full size. One application with Spark is always
   * present.
   */
  void applications(int applications) throws IOException, InterruptedException {
    Path own = directory.resolve("applications");
    try (NodeCluster cluster = NodeCluster.here(own, Shuffle.SLUICE, READERS);
        NodeDriver driver =
            NodeDriver.start(
                own.resolve("driver"), Shuffle.SLUICE, SMALL, cluster.conf(READERS, 1))) {
      NodeProcess node = cluster.blocks();
      Path local = Files.createDirectories(node.folder().resolveSibling("local/bare"));
      SimulatedApplications bare =
          new SimulatedApplications(
              node.socket(),
              new SampleOutputs(local, SMALL.maps(), SMALL.partitions(), SMALL.blockBytes()));
      bare.outputs().write();
      driver.reduce();
      run(bare, driver, 1, applications / 2);
      List<Level> few = Level.of(node);
      run(bare, driver, applications / 2 + 1, applications);
      List<Level> many = Level.of(node);
      for (int i = 0; i < many.size(); i++) {
        String name = "applications-" + many.get(i).what();
        less(name, many.get(i).unit(), many.get(i).value(), "after half", few.get(i).value());
      }
    }
  }

  private static void run(SimulatedApplications bare, NodeDriver driver, int first, int last)
      throws IOException, InterruptedException {
    for (int i = first; i <= last; i++) {
      if (i % SPARK_EVERY == 0) {
        driver.step(Step.NEXT_APPLICATION);
        driver.reduce();
      } else {
        bare.run("bare-" + i);
      }
    }
  }

  private void less(String what, String unit, long value, String partner, long other) {
    pairs.less("node-" + what, unit, (double) value, partner, (double) other);
  }

  /**
   * Runs applications at a node daemon one after the other, without Spark, which takes seconds to
   * start. Each has two executors in this process, and sends all messages of executors and driver.
   * {@link NodeLevels} calls it on the command's thread.
   *
   * @param socket socket of the node daemon
   * @param outputs map outputs of each shuffle
   */
  record SimulatedApplications(Path socket, SampleOutputs outputs) {
    private static final int SHUFFLES = 3;

    /**
     * Makes all executors read all of each shuffle; each shuffle then ends in a different way: 0 by
     * its removal, 1 because the driver no longer renews it, 2 with the application.
     */
    void run(String application) throws IOException, InterruptedException {
      String run = application + "-0";
      try (BareExecutor first = new BareExecutor(socket, application, run, "0");
          BareExecutor second = new BareExecutor(socket, application, run, "1")) {
        List<BareExecutor> executors = List.of(first, second);
        for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
          for (int map = 0; map < outputs.maps(); map++) {
            executors.get(map % executors.size()).handOver(shuffle, map, outputs);
          }
          for (BareExecutor executor : executors) {
            for (int map = 0; map < outputs.maps(); map++) {
              executor.read(shuffle, map, outputs);
            }
          }
        }
        first.tell(new RemoveShuffle(0));
        NodeResponse heard = first.tell(new Renew(NodeResponse.NEVER, new int[] {1, 2}));
        first.tell(new Renew(heard, new int[] {2})); // ends 1
        first.tell(new EndApplication());
      }
    }
  }
}
