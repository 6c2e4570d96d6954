package dev.sluice.spark;

import dev.sluice.spark.version.Platform;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.package$;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * <p>This class and {@link Platform} are the only ones that are compiled for Java 17, so that they
 * load on every JVM from 17 on, and say there what RDMA needs: {@code provider=auto} is the stock
 * shuffle then. All other classes are loaded by name.
 *
 * <p>Spark creates one on the driver and one on each executor, calls it from tasks' threads and, to
 * unregister, from RPC threads, and stops it before the block manager.
 */
public class RdmaShuffleManager extends SortShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);
  private static final String IMPLEMENTATION = "dev.sluice.spark.SluiceShuffleManager";
  private static final String PROVIDER = "spark.shuffle.rdma.provider";

  /** What the implementation counts, for the driver's program. */
  interface Counted {
    Map<String, Long> totals();

    Map<String, String> devices();
  }

  /** Null where this is the stock shuffle. */
  private final SortShuffleManager implementation;

  /** Why no task can run on this executor; null where they can. */
  private final String refusal;

  /**
   * Called by Spark.
   *
   * @throws IllegalArgumentException on the driver, for a configuration that is not valid
   * @throws IllegalStateException on the driver, where a provider is asked for by name that cannot
   *     be had. An executor would be launched again and again: there the tasks fail with the
   *     reason, and so the application ends.
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    this(
        conf,
        isDriver,
        Platform.lack(Runtime.version().feature(), package$.MODULE$.SPARK_VERSION()));
  }

  /**
   * @param lack as of {@link Platform#lack}
   */
  RdmaShuffleManager(SparkConf conf, boolean isDriver, String lack) {
    super(conf);
    String provider = conf.get(PROVIDER, "auto");
    boolean wanted = !provider.equals("off");
    implementation = wanted && lack == null ? load(conf, isDriver) : null;
    refusal = wanted && lack != null ? refusal(provider, isDriver, lack) : null;
  }

  /** Null where the stock shuffle will do. */
  private static String refusal(String provider, boolean isDriver, String reason) {
    if (provider.equals("auto")) {
      LOG.warn("{}: Spark's stock shuffle is used", reason);
      return null;
    }
    String refusal = PROVIDER + " is \"" + provider + "\", but " + reason;
    if (isDriver) {
      throw new IllegalStateException(refusal);
    }
    return refusal;
  }

  private void checkUsable() {
    if (refusal != null) {
      throw new IllegalStateException(refusal);
    }
  }

  private static SortShuffleManager load(SparkConf conf, boolean isDriver) {
    try {
      return Class.forName(IMPLEMENTATION, true, RdmaShuffleManager.class.getClassLoader())
          .asSubclass(SortShuffleManager.class)
          .getConstructor(SparkConf.class, boolean.class)
          .newInstance(conf, isDriver);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException) {
        throw (RuntimeException) e.getCause();
      }
      throw new IllegalStateException("Cannot start " + IMPLEMENTATION, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Cannot load " + IMPLEMENTATION, e);
    }
  }

  /**
   * On the driver: what the executors have counted, summed; about a second behind. Keys are {@code
   * read.blocks}, {@code read.bytes}, {@code local.blocks}, {@code local.bytes}, {@code
   * fallback.blocks.REASON}, {@code fallback.bytes.REASON}, {@code corruptions}, and those of the
   * parts, as in {@code transfer.reads-completed}. Empty where this is the stock shuffle.
   */
  public Map<String, Long> totals() {
    return implementation == null ? Map.of() : ((Counted) implementation).totals();
  }

  /**
   * On the driver: provider and device in use, with a space between, by executor that has reported
   * and is there.
   */
  public Map<String, String> devices() {
    return implementation == null ? Map.of() : ((Counted) implementation).devices();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    return implementation == null
        ? super.registerShuffle(shuffleId, dependency)
        : implementation.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    checkUsable();
    return implementation == null
        ? super.getWriter(handle, mapId, context, metrics)
        : implementation.getWriter(handle, mapId, context, metrics);
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
    checkUsable();
    SortShuffleManager manager = implementation;
    return manager == null
        ? super.getReader(
            handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics)
        : manager.getReader(
            handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    return implementation == null
        ? super.unregisterShuffle(shuffleId)
        : implementation.unregisterShuffle(shuffleId);
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return implementation == null
        ? super.shuffleBlockResolver()
        : implementation.shuffleBlockResolver();
  }

  @Override
  public void stop() {
    if (implementation == null) {
      super.stop();
    } else {
      implementation.stop();
    }
  }
}
