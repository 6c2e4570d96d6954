// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import dev.sluice.spark.RdmaShuffle;
import java.util.Map;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A third-party shuffle manager that has its blocks READ. It uses a reader of its own if there is
 * nothing to combine or sort.
 */
public final class OwnShuffleManager extends SortShuffleManager {
  private final RdmaShuffle rdma;

  public OwnShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf);
    rdma = RdmaShuffle.create(conf, isDriver, super.shuffleBlockResolver());
  }

  /** Same as {@link RdmaShuffle#totals}. */
  public Map<String, Long> totals() {
    return rdma.totals();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    rdma.register(dependency.rdd().sparkContext());
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    return rdma.registering(
        super.getWriter(handle, mapId, context, metrics), handle.shuffleId(), mapId, context);
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    @SuppressWarnings("unchecked")
    BaseShuffleHandle<K, ?, C> shuffle = (BaseShuffleHandle<K, ?, C>) handle;
    ShuffleDependency<K, ?, C> dependency = shuffle.dependency();
    if (dependency.aggregator().isDefined() || dependency.keyOrdering().isDefined()) {
      return super.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    OwnReader<K, C> reader =
        new OwnReader<>(
            dependency.serializer().newInstance(), rdma.client(context), context, metrics);
    CollectionConverters.asJava(
            SparkEnv.get()
                .mapOutputTracker()
                .getMapSizesByExecutorId(
                    handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition))
        .forEachRemaining(
            blocks -> reader.add(blocks._1(), CollectionConverters.asJava(blocks._2())));
    return reader;
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    rdma.unregister(shuffleId);
    return super.unregisterShuffle(shuffleId);
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return rdma.resolver();
  }

  @Override
  public void stop() {
    rdma.close();
    super.stop();
  }
}
