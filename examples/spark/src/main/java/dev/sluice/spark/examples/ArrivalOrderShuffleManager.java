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
 * A shuffle manager with a reader of its own, whose blocks come by READ. It is an example for
 * authors of shuffle managers, and the template of everything that they have to call.
 *
 * <p>It leaves writing to Spark: {@link RdmaShuffle} needs Spark's map output files. Its reduce
 * tasks take blocks in the order in which they arrive ({@link ArrivalOrderReader}), if there is
 * nothing to combine or sort. Spark's own reader does the other shuffles, by Spark's transfer.
 *
 * <p>Spark makes the following calls, in this order. Each is forwarded to {@link RdmaShuffle}:
 *
 * <ol>
 *   <li><b>The constructor</b>, once on the driver and once on each executor. {@link
 *       RdmaShuffle#create} only looks at the configuration, because Spark's block manager does not
 *       exist yet.
 *   <li><b>{@link #registerShuffle}</b>, on the driver, for each shuffle of a job. {@link
 *       RdmaShuffle#register} starts the location directory with the first one.
 *   <li><b>{@link #getWriter}</b>, on an executor, for each map task. {@link
 *       RdmaShuffle#registering} wraps Spark's writer: after its commit the map output becomes a
 *       memory region, and the driver learns where it is.
 *   <li><b>{@link #getReader}</b>, on an executor, for each reduce task. {@link RdmaShuffle#client}
 *       fetches the blocks of other executors: by READ, or by Spark's transfer where a READ is
 *       impossible.
 *   <li><b>{@link #unregisterShuffle}</b>, on the driver and on each executor, when nothing refers
 *       to the shuffle any more. {@link RdmaShuffle#unregister} frees the memory regions, and
 *       therefore precedes Spark's deletion of the files.
 *   <li><b>{@link #stop}</b>, when the driver or an executor ends. {@link RdmaShuffle#close} ends
 *       threads and connections.
 * </ol>
 *
 * <p>{@link #shuffleBlockResolver} may be called at any time, on any thread. {@link
 * RdmaShuffle#resolver} serves blocks to Spark's transfer.
 *
 * <p>Where RDMA is impossible or switched off, each of these calls has the effect of Spark's own
 * shuffle, so this class needs no case for that.
 */
public final class ArrivalOrderShuffleManager extends SortShuffleManager {
  private final RdmaShuffle rdma;

  /** Called by Spark, which finds the constructor by its parameters. */
  public ArrivalOrderShuffleManager(SparkConf conf, boolean isDriver) {
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
    @SuppressWarnings("unchecked") // The handle comes from registerShuffle.
    BaseShuffleHandle<K, ?, C> shuffle = (BaseShuffleHandle<K, ?, C>) handle;
    ShuffleDependency<K, ?, C> dependency = shuffle.dependency();
    if (dependency.aggregator().isDefined() || dependency.keyOrdering().isDefined()) {
      return super.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    // Spark's tracker tells which executor has which blocks; Sluice finds the memory regions
    // itself.
    ArrivalOrderReader<K, C> reader =
        new ArrivalOrderReader<>(
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
    rdma.unregister(shuffleId); // before the files are deleted
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
