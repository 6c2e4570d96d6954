package dev.sluice.spark;

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
 * Spark's sort shuffle whose blocks reducers fetch by one-sided RDMA READ: the class that {@code
 * spark.shuffle.manager} names.
 *
 * <p>Everything that Spark's shuffle does stays as it is: its three writers, its files, its
 * iterator with throttling, corruption handling and metrics, its own Netty transfer. That is why
 * this class extends {@link SortShuffleManager}, for which Spark also tests before it skips copies
 * of rows. What is added:
 *
 * <ul>
 *   <li><b>Register.</b> When a map task has committed, its data file becomes a memory region of
 *       the executor, on a thread of the registry. The MapStatus is Spark's, unchanged.
 *   <li><b>Publish.</b> The executor tells the driver's location directory in batches where the
 *       regions are: some tens of bytes a map output, whatever the number of partitions.
 *   <li><b>Locate.</b> MapStatus says which executor has a block. A reducing executor fetches the
 *       shuffle's table from the driver once, then its changes, and asks the executor itself for
 *       what the table lacks.
 *   <li><b>READ.</b> Spark's iterator gets a block store client that READs, checks Spark's
 *       checksums, and hands over to Spark's own transfer, block by block, whatever it cannot READ.
 *       Only what that cannot fetch either fails the stage.
 *   <li><b>Free.</b> Unregistering a shuffle deregisters its regions before its files are deleted.
 * </ul>
 *
 * <p>No plugin and no service is needed: the manager sets up its RPC endpoint on the driver, and
 * the block server of an executor when the first task there writes or reads.
 *
 * <p>This class loads on every JVM from Java 17 on, as does {@link RdmaShuffle}, which says there
 * what RDMA needs: {@code provider=auto} is the stock shuffle then.
 *
 * <p>Spark creates one on the driver and one on each executor, calls it from tasks' threads and, to
 * unregister, from RPC threads, and stops it before the block manager.
 */
public class RdmaShuffleManager extends SortShuffleManager {
  private final RdmaShuffle rdma;

  /**
   * Called by Spark.
   *
   * @throws IllegalArgumentException on the driver, for a configuration that is not valid
   * @throws IllegalStateException on the driver, where a provider is asked for by name that cannot
   *     be had, or nodes' block servers that cannot be used. An executor would be launched again
   *     and again: there the tasks fail with the reason, and so the application ends.
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    this(conf, stock -> RdmaShuffle.create(conf, isDriver, stock));
  }

  /**
   * On an RdmaShuffle that reaches the outside by other ways.
   *
   * @param shuffle made with Spark's resolver
   */
  @SuppressWarnings("this-escape") // It asks Spark's class for its resolver, which is there.
  protected RdmaShuffleManager(
      SparkConf conf, Function<IndexShuffleBlockResolver, RdmaShuffle> shuffle) {
    super(conf);
    rdma = shuffle.apply(super.shuffleBlockResolver());
  }

  /** As {@link RdmaShuffle#totals}. */
  public Map<String, Long> totals() {
    return rdma.totals();
  }

  /** As {@link RdmaShuffle#devices}. */
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
  @SuppressWarnings("unchecked") // The handle is the one of registerShuffle.
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
    rdma.unregister(shuffleId); // regions go before their files
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
