package dev.sluice.benchmarks.oracle;

import java.io.InputStream;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * Reads as Spark's own reader does, through Spark's iterator and with the same iterators around it,
 * but from a given client. One for a task, on whose thread it works.
 *
 * @param <K> type of the keys
 * @param <C> type of the values
 */
final class OracleReader<K, C> implements ShuffleReader<K, C> {
  private static final package$ SETTINGS = package$.MODULE$;

  private final ShuffleDependency<K, ?, C> dependency;
  private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;
  private final boolean batchFetch;
  private final BlockStoreClient client;
  private final SparkEnv env = SparkEnv.get();
  private final SparkConf conf = env.conf();

  /**
   * @param dependency without aggregation and order, which the workloads leave to what follows
   * @param blocks what the map output tracker says
   * @param batchFetch whether contiguous partitions may come as one block; serializer and codec of
   *     SQL, which asks for it, allow it
   */
  OracleReader(
      ShuffleDependency<K, ?, C> dependency,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      boolean batchFetch,
      BlockStoreClient client) {
    if (dependency.aggregator().isDefined() || dependency.keyOrdering().isDefined()) {
      throw new UnsupportedOperationException(
          "The oracle neither aggregates nor sorts: shuffle " + dependency.shuffleId());
    }
    this.dependency = dependency;
    this.blocks = blocks;
    this.context = context;
    this.metrics = metrics;
    this.batchFetch = batchFetch;
    this.client = client;
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    SerializerInstance serializer = dependency.serializer().newInstance();
    Iterator<Tuple2<Object, Object>> records =
        fetch()
            .flatMap(block -> serializer.deserializeStream(block._2()).asKeyValueIterator())
            .map(
                record -> {
                  metrics.incRecordsRead(1);
                  return record;
                });
    Iterator<Tuple2<Object, Object>> completing =
        CompletionIterator.apply(
            records,
            () -> {
              context.taskMetrics().mergeShuffleReadMetrics();
              return BoxedUnit.UNIT;
            });
    return retyped(new InterruptibleIterator<>(context, completing));
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetch() {
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocks,
            env.serializerManager()::wrapStream,
            this.<Long>setting(SETTINGS.REDUCER_MAX_SIZE_IN_FLIGHT()) * 1024 * 1024,
            this.<Integer>setting(SETTINGS.REDUCER_MAX_REQS_IN_FLIGHT()),
            this.<Integer>setting(SETTINGS.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            this.<Long>setting(SETTINGS.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            this.<Integer>setting(SETTINGS.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            this.<Boolean>setting(SETTINGS.SHUFFLE_DETECT_CORRUPT()),
            this.<Boolean>setting(SETTINGS.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            this.<Boolean>setting(SETTINGS.SHUFFLE_CHECKSUM_ENABLED()),
            conf.get(SETTINGS.SHUFFLE_CHECKSUM_ALGORITHM()),
            metrics,
            batchFetch,
            new SystemClock())
        .toCompletionIterator();
  }

  /** Spark's settings of primitive types look like Objects to Java. */
  @SuppressWarnings("unchecked")
  private <T> T setting(ConfigEntry<Object> entry) {
    return (T) conf.get(entry);
  }

  /** Scala's variance, which Java cannot express. */
  @SuppressWarnings("unchecked")
  private static <T> T retyped(Object object) {
    return (T) object;
  }
}
