// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.doctor.Platform;
import dev.sluice.spark.RdmaShuffle.BlockRange;
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
 * RDMA for a shuffle manager that writes Spark's files: registers and serves map outputs, and
 * provides a client that READs blocks. {@link RdmaShuffleManager} is built on it. A manager with
 * its own writers or readers creates one in its constructor and forwards Spark's calls:
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
 * <p>If the JVM, Spark or the configuration rules out RDMA, all of this is Spark's own: its
 * resolver, its writers, its client. The class loads on Java 17, where that is the case. Code that
 * needs Java 21 is loaded by name.
 *
 * <p>The public methods stay as they are within a major version of Sluice. {@code
 * spark.shuffle.rdma.*} configures it. Any thread may call it. A driver has one object, each
 * executor has one, and local mode has one for both.
 */
public abstract class RdmaShuffle implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffle.class);
  private static final String IMPLEMENTATION = "dev.sluice.spark.SluiceShuffle";
  static final String PROVIDER = "spark.shuffle.rdma.provider";

  /** Value of that key with which nothing is READ. */
  static final String OFF = "off";

  /** Not for other packages, because abstract methods may be added. */
  RdmaShuffle() {}

  /**
   * Creates the object in a shuffle manager's constructor. Only looks at the configuration, because
   * Spark has no block manager yet.
   *
   * @param stock resolver of the {@code SortShuffleManager}, whose files are registered
   * @throws IllegalArgumentException for a resolver of another class, which may have other files;
   *     on the driver, for an invalid configuration
   * @throws IllegalStateException on the driver, if a provider that is set by name is not
   *     available, or node daemons are required and cannot be used. An executor does not throw,
   *     because the cluster manager would launch it again and again: its tasks fail with the
   *     reason, which ends the application.
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
   * @param lack reason from {@link Platform#lack}; empty if RDMA can run here
   */
  static RdmaShuffle create(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock, String lack) {
    if (stock.getClass() != IndexShuffleBlockResolver.class) {
      throw new IllegalArgumentException(
          "Sluice registers only files of Spark's own resolver, not those of " + stock.getClass());
    }
    LOG.info(
        "This is Sluice {} with Spark {} on Java {}",
        Platform.version().orElse("of unknown version"),
        package$.MODULE$.SPARK_VERSION(),
        Runtime.version());
    if (isDriver) {
      Platform.version()
          .ifPresentOrElse(
              version -> conf.set(Platform.DRIVER_VERSION, version),
              () -> conf.remove(Platform.DRIVER_VERSION));
      NodeConfiguration.prepare(conf, lack);
    }
    if (conf.get(PROVIDER, "auto").equals(OFF)) {
      return new StockShuffle(stock, PROVIDER + " is \"" + OFF + "\"", PROVIDER);
    }
    if (!lack.isEmpty()) {
      return without(conf, isDriver, stock, lack);
    }
    try {
      return load(conf, isDriver, stock);
    } catch (LinkageError e) {
      return without(conf, isDriver, stock, "a class or method that Sluice needs is missing: " + e);
    }
  }

  private static RdmaShuffle without(
      SparkConf conf, boolean isDriver, IndexShuffleBlockResolver stock, String reason) {
    String key = NodeConfiguration.isRequired(conf) ? NodeConfiguration.NODE : PROVIDER;
    String asked = conf.get(key, "auto");
    if (asked.equals("auto")) {
      LOG.warn("Using Spark's stock shuffle: {}", reason);
      return new StockShuffle(stock, reason, "");
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

  /** Registers a shuffle, on the driver. From the first one on, executors find the directory. */
  public abstract void register(SparkContext context);

  /**
   * Returns the resolver that finds blocks of map outputs, registered or not, and serves them to
   * Spark's own transfer.
   */
  public abstract IndexShuffleBlockResolver resolver();

  /**
   * Wraps a map task's writer, so that the map output is registered and published after its commit.
   * The writer must commit Spark's files, a data file and an index file, by {@code
   * IndexShuffleBlockResolver#writeMetadataFileAndCommit}. Registration never fails the task. With
   * {@code spark.shuffle.rdma.node=on} the writer's {@code stop} fails if the node daemon does not
   * take the map output and the driver does not answer.
   *
   * @throws IllegalStateException if a provider that is set by name is not available
   */
  public abstract <K, V> ShuffleWriter<K, V> registering(
      ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context);

  /**
   * Returns the client that fetches blocks for a reduce task: by READ where possible, else by
   * Spark's own transfer. It serves Spark's {@code ShuffleBlockFetcherIterator} or a reader of the
   * caller's own. It belongs to the executor; the caller does not close it.
   *
   * <p>Each block gets one answer, on threads that all tasks of the executor share. A listener must
   * neither block nor decode on them. It retains a buffer that it keeps, and releases it after
   * reading it, at the latest when the task ends. The reader throws a failed fetch as Spark's
   * {@code FetchFailedException} on the task's thread, so that Spark writes the map output again.
   *
   * @throws IllegalStateException if a provider that is set by name is not available
   */
  public abstract BlockStoreClient client(TaskContext context);

  /**
   * Returns Sluice's own reader of a reduce task's blocks.
   *
   * @param stock makes Spark's reader
   */
  abstract <K, C> ShuffleReader<K, C> reader(
      BaseShuffleHandle<K, ?, C> handle,
      BlockRange blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      Supplier<ShuffleReader<K, C>> stock);

  /** Unregisters a shuffle, on the driver or an executor. Call it before the files are deleted. */
  public abstract void unregister(int shuffleId);

  /**
   * Returns the summed counters of all executors, on the driver; about a second behind. Keys are
   * {@code read.blocks}, {@code read.bytes}, {@code local.blocks}, {@code local.bytes}, {@code
   * fallback.blocks.REASON}, {@code fallback.bytes.REASON}, {@code corruptions}, and those of the
   * parts, such as {@code transfer.reads-completed}. Empty for the stock shuffle.
   */
  public abstract Map<String, Long> totals();

  /**
   * Returns provider and device in use, separated by a space, for each live executor that has
   * reported. On the driver.
   */
  public abstract Map<String, String> devices();

  @Override
  public abstract void close();

  /**
   * Blocks of a shuffle that a reduce task reads, as Spark passes them to a shuffle manager. {@link
   * RdmaShuffleManager} makes it for {@link RdmaShuffle#reader}. Compiled for Java 17.
   *
   * @param startMapIndex the first map output, by the index of its task
   * @param endMapIndex index after the last one; Integer.MAX_VALUE for all
   * @param startPartition the first partition of each map output
   * @param endPartition partition after the last one
   */
  record BlockRange(int startMapIndex, int endMapIndex, int startPartition, int endPartition) {}

  /**
   * Fails an executor's tasks where settings require RDMA that cannot run: a provider by name, or
   * {@code spark.shuffle.rdma.node=on}, with a Java or a Spark that Sluice does not support. {@link
   * RdmaShuffle#create} makes it on executors; a driver fails at once instead. Spark's task threads
   * call it. {@link #resolver} still works. Compiled for Java 17.
   */
  static final class RefusedShuffle extends StockShuffle {
    private final String reason;

    RefusedShuffle(IndexShuffleBlockResolver stock, String reason) {
      super(stock, reason, "");
      this.reason = reason;
    }

    private IllegalStateException refused() {
      return new IllegalStateException(reason);
    }

    @Override
    public <K, V> ShuffleWriter<K, V> registering(
        ShuffleWriter<K, V> writer, int shuffleId, long mapId, TaskContext context) {
      writer.stop(false); // Spark never gets this writer, so it cannot stop it.
      throw refused();
    }

    @Override
    public BlockStoreClient client(TaskContext context) {
      throw refused();
    }

    @Override
    <K, C> ShuffleReader<K, C> reader(
        BaseShuffleHandle<K, ?, C> handle,
        BlockRange blocks,
        TaskContext context,
        ShuffleReadMetricsReporter metrics,
        Supplier<ShuffleReader<K, C>> stockReader) {
      throw refused();
    }
  }
}
