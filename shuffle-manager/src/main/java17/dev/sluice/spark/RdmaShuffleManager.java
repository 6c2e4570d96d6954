// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.spark.RdmaShuffle.BlockRange;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/**
 * Spark's sort shuffle, from which reducers fetch blocks by one-sided RDMA READ. {@code
 * spark.shuffle.manager} names this class.
 *
 * <p>Spark's shuffle stays as it is: its three writers, its files, its iterator with throttling,
 * corruption handling and metrics, and its own Netty transfer. Therefore this class extends {@link
 * SortShuffleManager}; Spark also tests for that class before it skips copies of rows. Sluice adds
 * these steps:
 *
 * <ul>
 *   <li><b>Register.</b> After a map task has committed, a thread of the registry makes its data
 *       file a memory region of the executor. The MapStatus is Spark's, unchanged.
 *   <li><b>Publish.</b> The executor tells the driver's location directory in batches where the
 *       regions are. A map output takes some tens of bytes, whatever the number of partitions.
 *   <li><b>Locate.</b> MapStatus says which executor has a block. A reducing executor fetches the
 *       shuffle's table from the driver once, then only its changes. It asks the other executor
 *       itself for map outputs that the table lacks.
 *   <li><b>READ.</b> Spark's iterator gets a block store client that READs and checks Spark's
 *       checksums. Any block that it cannot READ falls back to Spark's own transfer, block by
 *       block. A stage fails only if that transfer fails as well.
 *   <li><b>Free.</b> Unregistering a shuffle deregisters its regions before its files are deleted.
 * </ul>
 *
 * <p>The manager needs no plugin and no service. It sets up its RPC endpoint on the driver, and the
 * block server of an executor when the first task there writes or reads.
 *
 * <p>This class and {@link RdmaShuffle} load on every JVM from Java 17 on. Where the JVM is too old
 * for RDMA, {@code provider=auto} uses the stock shuffle, and the log gives the reason.
 *
 * <p>Spark creates one manager on the driver and one on each executor. Task threads call it; RPC
 * threads call it to unregister shuffles. Spark stops it before the block manager.
 */
public class RdmaShuffleManager extends SortShuffleManager {
  private final RdmaShuffle rdma;

  /**
   * Called by Spark.
   *
   * @throws IllegalArgumentException on the driver, for an invalid configuration
   * @throws IllegalStateException on the driver, if a provider that is set by name is not
   *     available, or node daemons are required and cannot be used. An executor does not throw,
   *     because the cluster manager would launch it again and again: its tasks fail with the
   *     reason, which ends the application.
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    this(conf, stock -> RdmaShuffle.create(conf, isDriver, stock));
  }

  /**
   * Creates a manager with an RdmaShuffle that the caller makes, for example a {@code
   * SluiceShuffle} with other {@code ExecutorBackends}.
   *
   * @param shuffle makes it, given Spark's resolver
   */
  @SuppressWarnings("this-escape") // It asks Spark's class for its resolver, which exists by now.
  protected RdmaShuffleManager(
      SparkConf conf, Function<IndexShuffleBlockResolver, RdmaShuffle> shuffle) {
    super(conf);
    rdma = shuffle.apply(super.shuffleBlockResolver());
  }

  /** Same as {@link RdmaShuffle#totals}. */
  public Map<String, Long> totals() {
    return rdma.totals();
  }

  /** Same as {@link RdmaShuffle#devices}. */
  public Map<String, String> devices() {
    return rdma.devices();
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
  @SuppressWarnings("unchecked") // The handle comes from registerShuffle.
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    return rdma.reader(
        (BaseShuffleHandle<K, ?, C>) handle,
        new BlockRange(startMapIndex, endMapIndex, startPartition, endPartition),
        context,
        metrics,
        () ->
            super.getReader(
                handle,
                startMapIndex,
                endMapIndex,
                startPartition,
                endPartition,
                context,
                metrics));
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    rdma.unregister(shuffleId); // deregister regions before their files are deleted
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
