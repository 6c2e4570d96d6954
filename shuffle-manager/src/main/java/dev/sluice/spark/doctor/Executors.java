package dev.sluice.spark.doctor;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** The application's executors, and tasks that run on a certain one of them. One thread. */
final class Executors {
  private static final long REGISTERED_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long POLL_MS = 50;

  private final JavaSparkContext context;
  private final List<BlockManagerId> all;

  /** Those that have registered. */
  Executors(JavaSparkContext context) throws InterruptedException {
    this.context = context;
    long deadline = System.nanoTime() + REGISTERED_TIMEOUT_NS;
    List<BlockManagerId> found = registered(context.sc());
    while (found.size() < context.sc().getExecutorIds().size()
        && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(POLL_MS); // an executor's block manager is a little later
      found = registered(context.sc());
    }
    all = found;
  }

  /** In local mode the driver is the executor. */
  private static List<BlockManagerId> registered(SparkContext context) {
    Collection<BlockManagerId> managers =
        CollectionConverters.asJava(SparkEnv.get().blockManager().master().getMemoryStatus())
            .keySet();
    return managers.stream()
        .filter(manager -> manager.isDriver() == context.isLocal())
        .sorted(
            Comparator.comparing((BlockManagerId manager) -> manager.executorId().length())
                .thenComparing(BlockManagerId::executorId))
        .collect(Collectors.toList());
  }

  List<String> ids() {
    return all.stream().map(BlockManagerId::executorId).collect(Collectors.toList());
  }

  /** An executor in words. */
  String words(String id) {
    return all.stream()
        .filter(executor -> executor.executorId().equals(id))
        .map(executor -> id + "@" + executor.host())
        .findFirst()
        .orElse(id);
  }

  /** How they are spread over hosts, in words. */
  String spread() {
    Map<String, Long> byHost =
        all.stream()
            .collect(
                Collectors.groupingBy(BlockManagerId::host, TreeMap::new, Collectors.counting()));
    Map<Long, Long> hostsByExecutors =
        byHost.values().stream()
            .collect(Collectors.groupingBy(count -> count, TreeMap::new, Collectors.counting()));
    return hostsByExecutors.entrySet().stream()
        .map(entry -> entry.getKey() + " executor(s) each on " + entry.getValue() + " host(s)")
        .collect(Collectors.joining(", "));
  }

  /** A partition for the executor, which runs there if a core of it is free. */
  JavaRDD<Integer> on(String id) {
    return rdd(
        all.stream()
            .filter(executor -> executor.executorId().equals(id))
            .collect(Collectors.toList()));
  }

  /** A partition for one executor of each host. */
  JavaRDD<Integer> onEachHost() {
    Map<String, BlockManagerId> firsts = new LinkedHashMap<>();
    all.forEach(executor -> firsts.putIfAbsent(executor.host(), executor));
    return rdd(new ArrayList<>(firsts.values()));
  }

  List<String> hosts() {
    return all.stream().map(BlockManagerId::host).distinct().collect(Collectors.toList());
  }

  private JavaRDD<Integer> rdd(List<BlockManagerId> executors) {
    List<Tuple2<Integer, Seq<String>>> partitions = new ArrayList<>();
    for (BlockManagerId executor : executors) {
      // As org.apache.spark.scheduler.ExecutorCacheTaskLocation is written.
      String location = "executor_" + executor.host() + "_" + executor.executorId();
      partitions.add(new Tuple2<>(partitions.size(), seq(List.of(location))));
    }
    return JavaRDD.fromRDD(
        context.sc().makeRDD(seq(partitions), ClassTag$.MODULE$.apply(Integer.class)),
        ClassTag$.MODULE$.apply(Integer.class));
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }
}
