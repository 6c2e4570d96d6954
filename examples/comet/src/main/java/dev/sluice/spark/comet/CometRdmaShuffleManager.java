// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.comet;

import dev.sluice.spark.RdmaShuffle;
import dev.sluice.spark.RdmaShuffleManager;
import java.util.Map;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.sql.comet.execution.shuffle.CometNativeShuffle$;
import org.apache.spark.sql.comet.execution.shuffle.CometShuffleDependency;
import org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager;

/**
 * Comet's shuffle manager, from which reducers fetch blocks by READ. {@code spark.shuffle.manager}
 * names this class. {@code spark.jars} has its jar and that of Comet.
 *
 * <p>Comet turns itself off unless the manager is one of its own, so this class extends Comet's.
 * There are two kinds of shuffles:
 *
 * <ul>
 *   <li><b>Comet's exchanges</b>, native and columnar. Comet writes them to Spark's files, so
 *       {@link RdmaShuffle} registers them, and {@link CometRdmaReader} READs them.
 *   <li><b>All others</b>, of rows. An {@link RdmaShuffleManager} with the same {@link RdmaShuffle}
 *       writes and READs them.
 * </ul>
 *
 * <p>Cached tables stay in Spark's format: Comet's plug-in sets its own one only for the names of
 * Comet's managers.
 *
 * <p>Spark creates one manager on the driver and one on each executor, and calls it as it calls
 * {@link RdmaShuffleManager}. Where RDMA is impossible or switched off, all blocks come by Spark's
 * own transfer.
 */
public final class CometRdmaShuffleManager extends CometShuffleManager {
  private final RdmaShuffle rdma;
  private final RdmaShuffleManager ofRows;

  /** Called by Spark, which finds the constructor by its parameters. */
  public CometRdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf);
    rdma = RdmaShuffle.create(conf, isDriver, super.shuffleBlockResolver());
    ofRows = new RowShuffles(conf, rdma);
  }

  /** Same as {@link RdmaShuffle#totals}. */
  public Map<String, Long> totals() {
    return rdma.totals();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    if (!(dependency instanceof CometShuffleDependency)) {
      return ofRows.registerShuffle(shuffleId, dependency);
    }
    rdma.register(dependency.rdd().sparkContext());
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    if (!(dependency(handle) instanceof CometShuffleDependency)) {
      return ofRows.getWriter(handle, mapId, context, metrics);
    }
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
    if (!(dependency(handle) instanceof CometShuffleDependency<?, ?, ?> dependency)) {
      return ofRows.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    MapOutputTracker tracker = SparkEnv.get().mapOutputTracker();
    MapSizesByExecutorId blocks =
        dependency.isShuffleMergeFinalizedMarked()
            ? tracker.getPushBasedShuffleMapSizesByExecutorId(
                handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition)
            : new MapSizesByExecutorId(
                tracker.getMapSizesByExecutorId(
                    handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition),
                true);
    return new CometRdmaReader<>(
        dependency,
        blocks.iter(),
        client(dependency, context),
        context,
        metrics,
        blocks.enableBatchFetch()
            && SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context));
  }

  /**
   * Returns the client for an exchange's blocks. Comet writes native exchanges without encryption,
   * whatever {@code spark.io.encryption.enabled} says. Sluice takes files for encrypted where that
   * is true, and READs them even if {@code spark.network.crypto.enabled} is to protect bytes on the
   * wire. Their blocks then come by Spark's transfer.
   */
  private BlockStoreClient client(CometShuffleDependency<?, ?, ?> dependency, TaskContext context) {
    boolean plain = dependency.shuffleType().equals(CometNativeShuffle$.MODULE$);
    SparkEnv env = SparkEnv.get();
    return plain && env.conf().getBoolean("spark.io.encryption.enabled", false)
        ? env.blockManager().blockStoreClient()
        : rdma.client(context);
  }

  private static ShuffleDependency<?, ?, ?> dependency(ShuffleHandle handle) {
    return ((BaseShuffleHandle<?, ?, ?>) handle).dependency();
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    ofRows.unregisterShuffle(shuffleId); // deregisters regions of both kinds before files go
    return super.unregisterShuffle(shuffleId);
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return rdma.resolver();
  }

  @Override
  public void stop() {
    ofRows.stop(); // closes the RdmaShuffle
    super.stop();
  }

  /** Shuffles of rows, by the executor's or the driver's one {@link RdmaShuffle}. */
  private static final class RowShuffles extends RdmaShuffleManager {
    RowShuffles(SparkConf conf, RdmaShuffle rdma) {
      super(conf, stock -> rdma);
    }
  }
}
