// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.node.NodeCluster.Place;
import dev.sluice.benchmarks.node.NodeJob.Load;
import dev.sluice.benchmarks.node.NodeJob.Reduced;
import dev.sluice.benchmarks.node.NodeJob.Step;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Measures the time to read a shuffle whose writers or servers are lost: executors between map and
 * reduce stage, the node daemon in mid-reduce, and a whole node in mid-reduce. {@link NodeCommand}
 * calls it on its thread, a round at a time. {@link StoppedServers} uses its load and time of the
 * fault.
 *
 * @param directory directory of the clusters
 * @param pairs gets the values
 * @param answers set to which answers are added; more than one element means that some are wrong
 */
record LostExecutors(Path directory, Pairs pairs, Set<String> answers) {
  private static final String SERVICE = "service";
  private static final int EXECUTORS = 2;
  static final Load LOAD = new Load(32, 32, 20_000, 400);

  /**
   * Time of the fault; it is in the first half of the reduce stage, whose 32 tasks of at least 0.4
   * s take at least 6.4 s on two cores.
   */
  static final long STRIKE_MS = 2_000;

  /** Goal of {@code goals.txt} for the seconds that a restart may cost. */
  private static final double MOST_LOST_SECONDS = 6;

  private static final Map<String, String> DYNAMIC =
      Map.of(
          "spark.dynamicAllocation.enabled", "true",
          "spark.dynamicAllocation.minExecutors", "0",
          "spark.dynamicAllocation.maxExecutors", Integer.toString(EXECUTORS),
          "spark.dynamicAllocation.executorIdleTimeout", "2s");

  /** Measures lost executors, and a restarted node daemon. */
  void executors(int round) throws IOException, InterruptedException {
    Map<Shuffle, Reduced> killed = new EnumMap<>(Shuffle.class);
    Map<Shuffle, Reduced> released = new EnumMap<>(Shuffle.class);
    for (Shuffle shuffle : Shuffle.inTurn(round)) {
      Path own = directory.resolve(shuffle.label() + "-" + round);
      try (NodeCluster cluster = NodeCluster.here(own, shuffle, EXECUTORS)) {
        released.put(shuffle, released(cluster, own, shuffle));
        killed.put(shuffle, killed(cluster, own, shuffle));
      }
    }
    compare("killed", killed);
    compare("released", released);
  }

  /** Measures a lost node. */
  void nodes(int round) throws IOException, InterruptedException {
    Map<Shuffle, Reduced> lost = new EnumMap<>(Shuffle.class);
    for (Shuffle shuffle : Shuffle.inTurn(round)) {
      Path own = directory.resolve("lost-" + shuffle.label() + "-" + round);
      lost.put(shuffle, lost(own, shuffle));
    }
    compareRetries("lost", lost);
  }

  private Reduced released(NodeCluster cluster, Path own, Shuffle shuffle)
      throws IOException, InterruptedException {
    Map<String, String> conf = new HashMap<>(cluster.conf(EXECUTORS, 1));
    conf.putAll(DYNAMIC);
    try (NodeDriver driver = NodeDriver.start(own.resolve("released"), shuffle, LOAD, conf)) {
      checked(driver.reduce());
      driver.step(Step.AWAIT_NONE);
      return checked(driver.reduce());
    }
  }

  private Reduced killed(NodeCluster cluster, Path own, Shuffle shuffle)
      throws IOException, InterruptedException {
    Map<String, String> conf = cluster.conf(EXECUTORS, 1);
    try (NodeDriver driver = NodeDriver.start(own.resolve("killed"), shuffle, LOAD, conf)) {
      checked(driver.reduce());
      cluster.killExecutors();
      driver.step(Step.AWAIT_OTHERS);
      Reduced killed = checked(driver.reduce());
      if (shuffle == Shuffle.SLUICE) {
        restarted(cluster, driver);
      }
      return killed;
    }
  }

  /** Restarts the node daemon; the executors that wrote the map outputs are already gone. */
  private void restarted(NodeCluster cluster, NodeDriver driver)
      throws IOException, InterruptedException {
    Reduced before = checked(driver.reduce());
    Reduced struck =
        checked(
            driver.reduce(
                STRIKE_MS,
                () -> {
                  cluster.blocks().kill();
                  cluster.blocks().start();
                }));
    row("restarted-stages", "attempts", 1 + struck.retries(), "undisturbed", 1);
    row("restarted-maps", "times", timesWritten(struck), "undisturbed", 1);
    row("restarted-lost", "s", struck.seconds() - before.seconds(), "6 s", MOST_LOST_SECONDS);
  }

  /** Loses a node; the stock shuffle then loses the service in that node's Worker. */
  private Reduced lost(Path own, Shuffle shuffle) throws IOException, InterruptedException {
    try (NetworkNamespace network = new NetworkNamespace();
        NodeCluster cluster = NodeCluster.start(own, shuffle, 1, network.places());
        NodeDriver driver =
            NodeDriver.start(own.resolve("driver"), shuffle, LOAD, cluster.conf(EXECUTORS, 1))) {
      checked(driver.reduce());
      return checked(driver.reduce(STRIKE_MS, cluster::loseLastNode));
    }
  }

  private Reduced checked(Reduced reduced) {
    answers.add(reduced.answer());
    return reduced;
  }

  void compare(String what, Map<Shuffle, Reduced> results) {
    compareRetries(what, results);
    Reduced sluice = requireNonNull(results.get(Shuffle.SLUICE));
    double stockTimes = timesWritten(requireNonNull(results.get(Shuffle.STOCK)));
    row(what + "-maps", "times", timesWritten(sluice), SERVICE, stockTimes);
    double read = (double) sluice.readBytes() / sluice.remoteBytes();
    pairs.more("node-" + what + "-read", "part of remote bytes", read, "all", 1);
  }

  /** Compares stages and time only, as a lost node may have had more map outputs than another. */
  void compareRetries(String what, Map<Shuffle, Reduced> results) {
    Reduced sluice = requireNonNull(results.get(Shuffle.SLUICE));
    Reduced stock = requireNonNull(results.get(Shuffle.STOCK));
    row(what + "-stages", "attempts", 1 + sluice.retries(), SERVICE, 1 + stock.retries());
    pairs.less("node-" + what + "-reduce", "s", sluice.seconds(), SERVICE, stock.seconds());
  }

  /** Returns how often each map output was written on average, before this job included. */
  private static double timesWritten(Reduced reduced) {
    return 1 + (double) reduced.mapTasks() / LOAD.maps();
  }

  private void row(String what, String unit, double sluice, String partner, double value) {
    pairs.less("node-" + what, unit, sluice, partner, value);
  }

  /**
   * A network of two nodes on this machine. Two Workers need two addresses, since their external
   * shuffle services use the same port. Only root can create it. {@link LostExecutors} creates it
   * and closes it last, after the cluster that runs in it.
   */
  private static final class NetworkNamespace implements AutoCloseable {
    private static final String OUTSIDE = "10.213.0.1";
    private static final String INSIDE = "10.213.0.2";

    private final String name = "sluice-" + ProcessHandle.current().pid();

    NetworkNamespace() throws IOException {
      boolean made = false;
      try {
        ip("netns add " + name);
        ip("link add %s type veth peer name inside netns %s".formatted(name, name));
        ip("address add %s/24 dev %s".formatted(OUTSIDE, name));
        ip("link set %s up".formatted(name));
        ip("-n %s address add %s/24 dev inside".formatted(name, INSIDE));
        ip("-n %s link set inside up".formatted(name));
        ip("-n %s link set lo up".formatted(name));
        made = true;
      } finally {
        if (!made) {
          close();
        }
      }
    }

    private static void ip(String arguments) throws IOException {
      Commands.run(List.of(("ip " + arguments).split(" ")));
    }

    /** Returns the places of the node outside the namespace and of the one inside. */
    List<Place> places() {
      return List.of(
          new Place(OUTSIDE, List.of()), new Place(INSIDE, List.of("ip", "netns", "exec", name)));
    }

    @Override
    public void close() throws IOException {
      ip("netns delete " + name); // deletes both ends of the cable, too
    }
  }
}
