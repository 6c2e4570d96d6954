// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.cluster;

import static java.util.Objects.requireNonNull;

import dev.sluice.chaos.inject.ChaosAgent.Order;
import dev.sluice.chaos.inject.ChaosAgent.Status;
import dev.sluice.chaos.inject.ChaosShuffleManager;
import dev.sluice.chaos.inject.Injection;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.JsonFile;
import dev.sluice.testkit.NodeProcess;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Stages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.sql.SparkSession;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Access of faults to the executors of this driver's local cluster, to their files, and to their
 * agents. {@code ChaosJob} creates it. The driver's main thread uses it; the thread of the job
 * takes only the session. Only this class writes the order file, each time with a larger sequence.
 */
public final class Cluster {
  /** Setting: the socket of the node daemon, if any; its folder has its other files, too. */
  public static final String NODE_SOCKET = "spark.shuffle.rdma.node.socket";

  /** Time for an executor's agent to answer an order; it looks every 10 ms. */
  private static final long ANSWER_MS = 10_000;

  private static final long WHOLE_MS = 60_000;

  private final SparkSession session;
  private final boolean sluice;

  /** Directory of orders and answers. */
  private final Path directory;

  private final LastStatuses last = new LastStatuses();
  private Stages stages = new Stages();
  private Order order = Order.NONE;

  public Cluster(SparkSession session) {
    this.session = session;
    sluice = context().getConf().contains("spark.shuffle.manager"); // otherwise Spark's own
    directory = Path.of(setting(ChaosShuffleManager.DIRECTORY));
  }

  /** Returns true if executors obey orders; those of the stock shuffle do not. */
  public boolean isSluice() {
    return sluice;
  }

  public SparkSession session() {
    return session;
  }

  private SparkContext context() {
    return session.sparkContext();
  }

  public String setting(String key) {
    return context().getConf().get(key);
  }

  /** Returns true if executors hand their map outputs over to a node daemon. */
  boolean hasNode() {
    return context().getConf().contains(NODE_SOCKET);
  }

  public NodeProcess node() {
    return new NodeProcess(requireNonNull(Path.of(setting(NODE_SOCKET)).getParent()));
  }

  /** Waits until all configured executors run, and no other. */
  public void awaitWhole() throws Exception {
    Executors.await(JavaSparkContext.fromSparkContext(context()));
    if (!Poll.until(WHOLE_MS, () -> executors().size() == context().getExecutorIds().size())) {
      throw new TimeoutException("Spark knows an executor whose process does not run");
    }
    context().listenerBus().waitUntilEmpty(WHOLE_MS);
  }

  /** Makes every executor write and read a shuffle. */
  public void warmUp() {
    int tasks = 4 * context().defaultParallelism();
    List<Integer> keys = IntStream.range(0, tasks).boxed().toList();
    JavaSparkContext.fromSparkContext(context())
        .parallelize(keys, tasks)
        .mapToPair(key -> new Tuple2<>(key, key))
        .groupByKey(tasks)
        .count();
  }

  /** Starts to watch stages, for a new run. */
  public void watch() {
    context().removeSparkListener(stages);
    stages = new Stages();
    context().addSparkListener(stages);
  }

  /** Returns the stages of the present run. */
  public Stages stages() {
    return stages;
  }

  /** Writes thread dumps of driver and executors to files, to show where a job hangs. */
  public void dumpThreads() throws IOException, InterruptedException {
    ExecutorProcess.driver().dumpThreads(directory);
    for (ExecutorProcess executor : executors()) {
      executor.dumpThreads(directory);
    }
  }

  /** Returns a random executor that Spark knows and that runs. */
  public ExecutorProcess any(Random random) {
    List<ExecutorProcess> executors = executors();
    if (executors.isEmpty()) {
      throw new IllegalStateException("no executor of this application runs");
    }
    return executors.get(random.nextInt(executors.size()));
  }

  /** Returns the executors in the order of their ids, so that a seed chooses the same one again. */
  public List<ExecutorProcess> executors() {
    List<String> known = CollectionConverters.asJava(context().getExecutorIds());
    return ExecutorProcess.all().stream()
        .filter(executor -> known.contains(executor.id()))
        .sorted(Comparator.comparingInt(executor -> Integer.parseInt(executor.id())))
        .toList();
  }

  /**
   * Orders injections for all executors; those of the stock shuffle ignore it.
   *
   * @param victim process id, for injections into one executor; 0 for none
   */
  public void order(Map<Injection, Double> rates, long seed, long victim)
      throws IOException, InterruptedException {
    if (sluice) {
      give(new Order(order.sequence() + 1, seed, rates, victim));
    }
  }

  /** Orders that nothing is injected. */
  public void orderNothing() throws IOException, InterruptedException {
    order(Map.of(), 0, 0);
  }

  /** Returns the states of the executors; empty for one that runs but does not answer. */
  Map<ExecutorProcess, Optional<Status>> statuses() throws IOException, InterruptedException {
    return give(order.again());
  }

  /** Returns how often the injection has acted in executors. */
  public long hits(Injection injection) throws IOException, InterruptedException {
    return sum(status -> status.hits().getOrDefault(injection, 0L));
  }

  /** Returns the sum of a counter of Sluice over executors. */
  public long counted(String counter) throws IOException, InterruptedException {
    return sum(status -> status.counters().getOrDefault(counter, 0L));
  }

  private long sum(ToLongFunction<Status> number) throws IOException, InterruptedException {
    if (sluice) {
      statuses(); // asks all that run
    }
    return last.sum(number);
  }

  /** Returns the blocks that each running executor has READ from others since its start. */
  public Map<ExecutorProcess, Long> readBlocks() throws IOException, InterruptedException {
    Map<ExecutorProcess, Long> blocks = new HashMap<>();
    if (sluice) {
      statuses()
          .forEach(
              (executor, status) ->
                  blocks.put(executor, status.map(Status::readBlocks).orElse(0L)));
    }
    return blocks;
  }

  private Map<ExecutorProcess, Optional<Status>> give(Order next)
      throws IOException, InterruptedException {
    order = next;
    JsonFile.write(directory.resolve("order.json"), next);
    Map<ExecutorProcess, Optional<Status>> answers = new HashMap<>();
    for (ExecutorProcess executor : executors()) {
      Optional<Status> status = answer(executor);
      if (status.isPresent() || runs(executor)) {
        answers.put(executor, status);
      }
    }
    last.take(answers);
    return answers;
  }

  private Optional<Status> answer(ExecutorProcess executor)
      throws IOException, InterruptedException {
    Poll.until(ANSWER_MS, () -> answered(executor).isPresent() || !runs(executor));
    return answered(executor);
  }

  private Optional<Status> answered(ExecutorProcess executor) throws IOException {
    Path file = directory.resolve("status-" + executor.id() + ".json");
    return Files.exists(file)
        ? Optional.of(JsonFile.read(file, Status.class))
            .filter(status -> status.sequence() == order.sequence())
        : Optional.empty();
  }

  private boolean runs(ExecutorProcess executor) {
    return executors().contains(executor);
  }

  /** Returns files of the present run's shuffles in the local directories, sorted by name. */
  public List<Path> shuffleFiles(String suffix) throws IOException {
    return Directories.files(
        Path.of(setting("spark.local.dir")), name -> name.endsWith(suffix) && isOfThisRun(name));
  }

  /**
   * Waits until all events are processed and the block managers' master knows every executor. After
   * a fetch failure the master forgets the executor until its next heartbeat; it then misses
   * removals.
   */
  public void settle(long timeoutMs) throws Exception {
    context().listenerBus().waitUntilEmpty(timeoutMs);
    Poll.until(timeoutMs, () -> stages.runningTasks().isEmpty());
    // The status has the driver, too.
    if (!Poll.until(
        timeoutMs, () -> context().getExecutorMemoryStatus().size() > executors().size())) {
      throw new TimeoutException("the driver does not know the block managers of all executors");
    }
  }

  private boolean isOfThisRun(String file) {
    return stages.shuffles().stream().anyMatch(id -> file.startsWith("shuffle_" + id + "_"));
  }

  /** Removes the shuffles, as when their RDDs are garbage collected; waits for it. */
  public void forget(Set<Integer> shuffles) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    for (int shuffle : shuffles) {
      tracker.unregisterShuffle(shuffle);
      context().shuffleDriverComponents().removeShuffle(shuffle, true);
    }
  }

  public void kill(long task) {
    context().killTaskAttempt(task, true, "killed by the fault harness");
  }

  /** Decommissions it, as a cluster manager that takes a node away; another one replaces it. */
  public void decommission(ExecutorProcess executor) {
    ((ExecutorAllocationClient) context().schedulerBackend())
        .decommissionExecutor(
            executor.id(),
            new ExecutorDecommissionInfo("ordered by the fault harness", Option.empty()),
            false,
            false);
  }

  /** Removes it, as dynamic allocation does; a new executor may start. */
  public void remove(ExecutorProcess executor) {
    ((ExecutorAllocationClient) context().schedulerBackend())
        .killExecutors(
            CollectionConverters.asScala(List.of(executor.id())).toSeq(), false, false, true);
  }

  /**
   * Last state of each executor that was ever asked. A sum over them does not fall when an executor
   * ends, and so shows all that grows afterwards. {@link Cluster} has one.
   */
  static final class LastStatuses {
    private final Map<ExecutorProcess, Status> last = new HashMap<>();

    void take(Map<ExecutorProcess, Optional<Status>> answers) {
      answers.forEach((executor, answer) -> answer.ifPresent(status -> last.put(executor, status)));
    }

    long sum(ToLongFunction<Status> number) {
      return last.values().stream().mapToLong(number).sum();
    }
  }
}
