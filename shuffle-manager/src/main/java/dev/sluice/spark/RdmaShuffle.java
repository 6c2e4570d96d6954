package dev.sluice.spark;

import dev.sluice.spark.version.Platform;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.package$;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA for a shuffle manager that writes Spark's files: map outputs that are registered and served,
 * and a client that READs blocks. {@link RdmaShuffleManager} is built on it; a manager that has its
 * own writers or readers makes one in its constructor and passes on what Spark tells it:
 *
 * <pre>
 *   rdma = RdmaShuffle.create(conf, isDriver, super.shuffleBlockResolver());
 *   registerShuffle       rdma.register(dependency.rdd().sparkContext())
 *   getWriter             rdma.registering(writer, shuffleId, mapId, context)
 *   getReader             a reader whose blocks come by rdma.client(context)
 *   shuffleBlockResolver  rdma.resolver()
 *   unregisterShuffle     rdma.unregister(shuffleId), before the files go
 *   stop                  rdma.close()
 * </pre>
 *
 * <p>Where there is no RDMA to be had, because of the JVM, Spark or the configuration, all of this
 * is Spark's own: its resolver, its writers, its client. The class loads on Java 17, on which that
 * is so, and what it does on Java 25 is loaded by name.
 *
 * <p>The public methods stay as they are within a major version of Sluice. Configured by {@code
 * spark.shuffle.rdma.*}. Any thread; one object in a driver, one in each executor, and one for both
 * in local mode.
 */
public abstract class RdmaShuffle implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffle.class);
  private static final String IMPLEMENTATION = "dev.sluice.spark.SluiceShuffle";
  private static final String PROVIDER = "spark.shuffle.rdma.provider";

  /** Not for others: methods may be added. */
  RdmaShuffle() {}

  /**
   * For a shuffle manager's constructor: only looks at the configuration, for Spark has no block
   * manager yet.
   *
   * @param stock the {@code SortShuffleManager}'s, whose files are registered
   * @throws IllegalArgumentException for a resolver of another class, which may have other files;
   *     on the driver, for a configuration that is not valid
   * @throws IllegalStateException on the driver, where a provider is asked for by name that cannot
   *     be had, or nodes' block servers that cannot be used. An executor would be launched again
   *     and again: there the tasks fail with the reason, and so the application ends.
   */
  public static RdmaShuffle create(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock) {
    return create(
        conf,
        isDriver,
        stock,
        Platform.lack(Runtime.version().feature(), package$.MODULE$.SPARK_VERSION()));
  }

  /**
   * @param lack as of {@link Platform#lack}
   */
  static RdmaShuffle create(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock, String lack) {
    if (stock.getClass() != IndexShuffleBlockResolver.class) {
      throw new IllegalArgumentException(
          "only files of Spark's own resolver are registered, not those of " + stock.getClass());
    }
    if (isDriver) {
      NodeConfiguration.prepare(conf, lack);
    }
    if (conf.get(PROVIDER, "auto").equals("off")) {
      return new StockShuffle(stock);
    }
    if (!lack.isEmpty()) {
      return without(conf, isDriver, stock, lack);
    }
    try {
      return load(conf, isDriver, stock);
    } catch (LinkageError e) {
      return without(conf, isDriver, stock, "what this version of it needs is not there: " + e);
    }
  }

  private static RdmaShuffle without(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock, String reason) {
    String key = NodeConfiguration.isRequired(conf) ? NodeConfiguration.NODE : PROVIDER;
    String asked = conf.get(key, "auto");
    if (asked.equals("auto")) {
      LOG.warn("{}: Spark's stock shuffle is used", reason);
      return new StockShuffle(stock);
    }
    String refusal = key + " is \"" + asked + "\", but " + reason;
    if (isDriver) {
      throw new IllegalStateException(refusal);
    }
    return new RefusedShuffle(stock, refusal);
  }

  private static RdmaShuffle load(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock) {
    try {
      return Class.forName(IMPLEMENTATION, true, RdmaShuffle.class.getClassLoader())
          .asSubclass(RdmaShuffle.class)
          .getConstructor(SparkConf.class, boolean.class, IndexShuffleBlockResolver.class)
          .newInstance(conf, isDriver, stock);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException) {
        throw (RuntimeException) e.getCause();
      }
      if (e.getCause() instanceof Error) {
        throw (Error) e.getCause();
      }
      throw new IllegalStateException("Cannot start " + IMPLEMENTATION, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Cannot load " + IMPLEMENTATION, e);
    }
  }

  /** On the driver, for each shuffle: from the first one on executors find the directory. */
  public abstract void register(SparkContext context);

  /**
   * What finds blocks of map outputs, registered or not, and serves them to Spark's own transfer.
   */
  public abstract IndexShuffleBlockResolver resolver();

  /**
   * A map task's writer, after whose commit the map output is registered and published. It has to
   * commit Spark's files: a data file and an index file, by {@code
   * IndexShuffleBlockResolver#writeMetadataFileAndCommit}. Registering never fails the task. What
   * does, from the writer's {@code stop}, is a map output that the node's block server does not
   * take under {@code spark.shuffle.rdma.node=required}.
   *
   * @throws IllegalStateException where a provider is asked for by name that cannot be had, or a
   *     node's block server
   */
  public abstract <K, V> ShuffleWriter<K, V> registering(
      ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context);

  /**
   * What fetches blocks for a reduce task: by READ where that goes, by Spark's own transfer
   * otherwise; for Spark's {@code ShuffleBlockFetcherIterator} or a reader of one's own. The
   * executor's, which nobody closes.
   *
   * <p>Each block gets one answer, on threads that all tasks of the executor share: a listener must
   * not block there, nor decode. It retains a buffer that it keeps, and releases it when it has
   * read it, at the latest when the task ends. A failed fetch is for the reader to throw as Spark's
   * {@code FetchFailedException} on the task's thread, so that the map output is written again.
   *
   * @throws IllegalStateException where a provider is asked for by name that cannot be had
   */
  public abstract BlockStoreClient client(TaskContext context);

  /**
   * Our own reader of a reduce task's blocks.
   *
   * @param stock Spark's
   */
  abstract <K, C> ShuffleReader<K, C> reader(
      BaseShuffleHandle<K, ?, C> handle,
      BlockRange blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      Supplier<ShuffleReader<K, C>> stock);

  /** A shuffle is over, on the driver or an executor: to be called before its files are deleted. */
  public abstract void unregister(int shuffleId);

  /**
   * On the driver: what the executors have counted, summed; about a second behind. Keys are {@code
   * read.blocks}, {@code read.bytes}, {@code local.blocks}, {@code local.bytes}, {@code
   * fallback.blocks.REASON}, {@code fallback.bytes.REASON}, {@code corruptions}, and those of the
   * parts, as in {@code transfer.reads-completed}. Empty where this is the stock shuffle.
   */
  public abstract Map<String, Long> totals();

  /**
   * On the driver: provider and device in use, with a space between, by executor that has reported
   * and is there.
   */
  public abstract Map<String, String> devices();

  @Override
  public abstract void close();
}
