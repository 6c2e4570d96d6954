package dev.sluice.spark;

import dev.sluice.rdma.Device;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.read.ExecutorReading;
import dev.sluice.spark.read.RdmaShuffleReader;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.MapOutputTracker;
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
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * What {@link RdmaShuffleManager}, whose comment tells the whole, is on a JVM that is new enough:
 * Spark's own manager on an {@link RdmaShuffle}.
 *
 * <p>What an executor reaches the outside by, {@link #openDevice} and {@link #openDriverChannel},
 * may be replaced by a subclass: a fault harness puts its own in front.
 */
@SuppressWarnings("this-escape") // What it hands out of itself is not called before tasks run.
public class SluiceShuffleManager extends SortShuffleManager implements RdmaShuffleManager.Counted {
  private static final RdmaShuffle.Outside STANDARD = new RdmaShuffle.Outside() {};

  private final RdmaShuffle rdma;

  /**
   * Called by {@link RdmaShuffleManager}. On an executor nothing is thrown: it would be launched
   * again and again. What is wrong there ends the tasks, and so the application.
   */
  public SluiceShuffleManager(SparkConf sparkConf, boolean isDriver) {
    super(sparkConf);
    rdma = new RdmaShuffle(sparkConf, isDriver, super.shuffleBlockResolver(), new Own());
  }

  private final class Own implements RdmaShuffle.Outside {
    @Override
    public DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
      return SluiceShuffleManager.this.openDriverChannel(env, conf);
    }

    @Override
    public Device openDevice(SluiceConf conf, String executorId, String host) throws IOException {
      return SluiceShuffleManager.this.openDevice(conf, executorId, host);
    }
  }

  /** As {@link RdmaShuffle.Outside#openDriverChannel}. */
  protected DriverChannel openDriverChannel(SparkEnv env, SluiceConf conf) {
    return STANDARD.openDriverChannel(env, conf);
  }

  /** As {@link RdmaShuffle.Outside#openDevice}. */
  protected Device openDevice(SluiceConf conf, String executorId, String host) throws IOException {
    return STANDARD.openDevice(conf, executorId, host);
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
    ExecutorReading reading = rdma.reading(context);
    @SuppressWarnings("unchecked")
    BaseShuffleHandle<K, ?, C> shuffle = (BaseShuffleHandle<K, ?, C>) handle;
    // While the task asks the driver which blocks there are, and waits for that.
    reading.client().prepare(handle.shuffleId());
    MapOutputs outputs =
        mapOutputs(shuffle, startMapIndex, endMapIndex, startPartition, endPartition);
    return new RdmaShuffleReader<>(
        shuffle,
        outputs.byAddress(),
        context,
        metrics,
        outputs.batchFetch()
            && SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context),
        reading);
  }

  /** What the map output tracker says about a reduce task's blocks. */
  private record MapOutputs(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> byAddress,
      boolean batchFetch) {}

  private static MapOutputs mapOutputs(
      BaseShuffleHandle<?, ?, ?> handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition) {
    MapOutputTracker tracker = SparkEnv.get().mapOutputTracker();
    int id = handle.shuffleId();
    if (!handle.dependency().isShuffleMergeFinalizedMarked()) {
      return new MapOutputs(
          tracker.getMapSizesByExecutorId(
              id, startMapIndex, endMapIndex, startPartition, endPartition),
          true);
    }
    var merged =
        tracker.getPushBasedShuffleMapSizesByExecutorId(
            id, startMapIndex, endMapIndex, startPartition, endPartition);
    return new MapOutputs(merged.iter(), merged.enableBatchFetch());
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
  public Map<String, Long> totals() {
    return rdma.totals();
  }

  @Override
  public Map<String, String> devices() {
    return rdma.devices();
  }

  @Override
  public void stop() {
    rdma.close();
    super.stop();
  }
}
