package dev.sluice.benchmarks.chaos.cluster;

import dev.sluice.benchmarks.Executors;
import dev.sluice.benchmarks.JsonFile;
import dev.sluice.benchmarks.NodeProcess;
import dev.sluice.benchmarks.Poll;
import dev.sluice.benchmarks.chaos.inject.ChaosShuffleManager;
import dev.sluice.benchmarks.chaos.inject.Injection;
import dev.sluice.benchmarks.chaos.inject.Order;
import dev.sluice.benchmarks.chaos.inject.Status;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
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
 * What a fault can get hold of: the executors of this driver's local cluster, their files, and the
 * orders that they obey. Used by the thread of the runs.
 */
public final class Cluster {
  /** Beside which everything of the node's block server is, where there is one. */
  public static final String NODE_SOCKET = "spark.shuffle.rdma.node.socket";

  private static final long ANSWER_MS = 10_000;
  private static final long WHOLE_MS = 60_000;

  private final SparkSession session;
  private final boolean sluice;

  /** For orders and answers. */
  private final Path directory;

  private Stages stages = new Stages();
  private Order order = Order.NONE;

  public Cluster(SparkSession session) {
    this.session = session;
    sluice = context().getConf().contains("spark.shuffle.manager"); // else Spark's own
    directory = Path.of(setting(ChaosShuffleManager.DIRECTORY));
  }

  /** Whether executors obey orders; those of the stock shuffle do not. */
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

  /** Whether executors hand their map outputs over to the block server of their node. */
  boolean hasNode() {
    return context().getConf().contains(NODE_SOCKET);
  }

  /** The block server of the node. */
  public NodeProcess node() {
    return new NodeProcess(Path.of(setting(NODE_SOCKET)).getParent());
  }

  /** Waits until all executors are there that the cluster is to have, and no one else. */
  public void awaitWhole() throws Exception {
    Executors.await(JavaSparkContext.fromSparkContext(context()));
    if (!Poll.until(WHOLE_MS, () -> executors().size() == context().getExecutorIds().size())) {
      throw new TimeoutException("an executor that Spark knows does not run");
    }
    context().listenerBus().waitUntilEmpty(WHOLE_MS);
  }

  /** Has every executor write and read a shuffle. */
  public void warmUp() {
    int tasks = 4 * context().defaultParallelism();
    List<Integer> keys = IntStream.range(0, tasks).boxed().toList();
    JavaSparkContext.fromSparkContext(context())
        .parallelize(keys, tasks)
        .mapToPair(key -> new Tuple2<>(key, key))
        .groupByKey(tasks)
        .count();
  }

  /** Watches from now on. */
  public void watch() {
    context().removeSparkListener(stages);
    stages = new Stages();
    context().addSparkListener(stages);
  }

  /** The stages of the present run. */
  public Stages stages() {
    return stages;
  }

  /** Says what hung: thread dumps of driver and executors, as files. */
  public void dumpThreads() throws IOException, InterruptedException {
    ExecutorProcess.driver().dumpThreads(directory);
    for (ExecutorProcess executor : executors()) {
      executor.dumpThreads(directory);
    }
  }

  /** Any executor that Spark knows and that runs. */
  public ExecutorProcess any(Random random) {
    List<ExecutorProcess> executors = executors();
    if (executors.isEmpty()) {
      throw new IllegalStateException("no executor runs");
    }
    return executors.get(random.nextInt(executors.size()));
  }

  /** In the order of their ids, so that a seed means the same one again. */
  public List<ExecutorProcess> executors() {
    List<String> known = CollectionConverters.asJava(context().getExecutorIds());
    return ExecutorProcess.all().stream()
        .filter(executor -> known.contains(executor.id()))
        .sorted(Comparator.comparingInt(executor -> Integer.parseInt(executor.id())))
        .toList();
  }

  /**
   * What goes wrong inside executors from now on; the stock shuffle's do nothing.
   *
   * @param victim process id for what is about one executor, 0 for none
   */
  public void order(Map<Injection, Double> rates, long seed, long victim)
      throws IOException, InterruptedException {
    if (sluice) {
      give(new Order(order.sequence() + 1, seed, rates, victim));
    }
  }

  /** Nothing more goes wrong. */
  public void orderNothing() throws IOException, InterruptedException {
    order(Map.of(), 0, 0);
  }

  /** What the executors hold; without a status where one runs and does not answer. */
  Map<ExecutorProcess, Optional<Status>> statuses() throws IOException, InterruptedException {
    return give(order.again());
  }

  /** How often this has gone wrong in the executors that run now. */
  public long hits(Injection injection) throws IOException, InterruptedException {
    return sum(status -> status.hits().getOrDefault(injection, 0L));
  }

  /** One of Sluice's counters, of all executors that run now. */
  public long counted(String counter) throws IOException, InterruptedException {
    return sum(status -> status.counters().getOrDefault(counter, 0L));
  }

  private long sum(ToLongFunction<Status> number) throws IOException, InterruptedException {
    return sluice
        ? statuses().values().stream().flatMap(Optional::stream).mapToLong(number).sum()
        : 0;
  }

  /** Blocks that the executors which run now have READ from others since their start. */
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

  /** Files of the present run's shuffles in the executors' local directories, by name. */
  public List<Path> shuffleFiles(String suffix) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        Path.of(setting("spark.local.dir")),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = file.getFileName().toString();
            if (name.endsWith(suffix) && isOfThisRun(name)) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure) {
            return FileVisitResult.CONTINUE; // It was deleted meanwhile.
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, IOException failure) {
            return FileVisitResult.CONTINUE;
          }
        });
    files.sort(Comparator.comparing(file -> file.getFileName().toString()));
    return files;
  }

  /**
   * Waits until what happened is known, and every executor to the block managers' master: after a
   * fetch failure it forgets one until the next heartbeat, and that one misses what is removed
   * meanwhile.
   */
  public void settle(long timeoutMs) throws Exception {
    context().listenerBus().waitUntilEmpty(timeoutMs);
    Poll.until(timeoutMs, () -> stages.runningTasks().isEmpty());
    if (!Poll.until(timeoutMs, this::isKnownToMaster)) {
      throw new TimeoutException("an executor's block manager is unknown to the driver");
    }
  }

  private boolean isKnownToMaster() {
    return context().getExecutorMemoryStatus().size() > executors().size(); // with the driver's
  }

  private boolean isOfThisRun(String file) {
    return stages.shuffles().stream().anyMatch(id -> file.startsWith("shuffle_" + id + "_"));
  }

  /** Nobody needs the shuffles any more, as when their RDDs were collected; waits for it. */
  public void forget(Set<Integer> shuffles) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    for (int shuffle : shuffles) {
      tracker.unregisterShuffle(shuffle);
      context().shuffleDriverComponents().removeShuffle(shuffle, true);
    }
  }

  public void kill(long task) {
    context().killTaskAttempt(task, true, "the fault harness kills it");
  }

  /** As a cluster manager does that takes a node away; another one takes the executor's place. */
  public void decommission(ExecutorProcess executor) {
    ((ExecutorAllocationClient) context().schedulerBackend())
        .decommissionExecutor(
            executor.id(),
            new ExecutorDecommissionInfo("the fault harness", Option.empty()),
            false,
            false);
  }

  /** As dynamic allocation does; another one may come. */
  public void remove(ExecutorProcess executor) {
    ((ExecutorAllocationClient) context().schedulerBackend())
        .killExecutors(
            CollectionConverters.asScala(List.of(executor.id())).toSeq(), false, false, true);
  }
}
