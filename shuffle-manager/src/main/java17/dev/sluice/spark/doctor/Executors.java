// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Where;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
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

/**
 * The application's executors, and partitions whose tasks run on certain ones. {@link Doctor} makes
 * it on its main thread, where the constructor waits; {@link Mesh} uses it there as well. The list
 * does not change after that. Nothing to close.
 */
final class Executors {
  static final String NAME = "executors";

  private static final long POLL_MS = 100;

  private final JavaSparkContext context;
  private final ExecutorWait wait;
  private final List<BlockManagerId> all;

  /**
   * Waits for executors to register.
   *
   * @param asked number of executors to wait for; empty for the number in the configuration
   * @param limit limit of the wait
   */
  Executors(JavaSparkContext context, OptionalInt asked, Duration limit)
      throws InterruptedException {
    this.context = context;
    wait =
        new ExecutorWait(
            asked.isPresent() ? asked : ExecutorWait.expected(context.getConf()),
            limit,
            System::nanoTime);
    List<BlockManagerId> found = registered(context.sc());
    while (!wait.isOver(found.size())) {
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      found = registered(context.sc());
    }
    all = found;
  }

  /** Returns the number of executors that are checked, and of expected ones, as a finding. */
  Finding finding() {
    return wait.finding(spread());
  }

  /** Returns the registered executors. In local mode the driver is the executor. */
  private static List<BlockManagerId> registered(SparkContext context) {
    Collection<BlockManagerId> managers =
        CollectionConverters.asJava(SparkEnv.get().blockManager().master().getMemoryStatus())
            .keySet();
    return managers.stream()
        .filter(manager -> manager.isDriver() == context.isLocal())
        .sorted(
            Comparator.comparingInt((BlockManagerId manager) -> manager.executorId().length())
                .thenComparing(BlockManagerId::executorId))
        .collect(Collectors.toList());
  }

  List<String> ids() {
    return all.stream().map(BlockManagerId::executorId).collect(Collectors.toList());
  }

  Where where(String id) {
    return all.stream()
        .filter(executor -> executor.executorId().equals(id))
        .map(executor -> new Where(id, executor.host()))
        .findFirst()
        .orElse(new Where(id, "unknown"));
  }

  /** Describes in words how the executors are spread over hosts. */
  private String spread() {
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

  /** Makes a partition for the executor, which runs there if one of its cores is free. */
  JavaRDD<Integer> on(String id) {
    return rdd(
        all.stream()
            .filter(executor -> executor.executorId().equals(id))
            .collect(Collectors.toList()));
  }

  /** Makes a partition for one executor of each host. */
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
      // This is the format of org.apache.spark.scheduler.ExecutorCacheTaskLocation.
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
