// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.reduce;

import java.io.InputStream;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
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
 * Spark's own iterators of a reduce task around blocks of any client, put together as in Spark's
 * BlockStoreShuffleReader. Each {@link RdmaShuffleReader} has one, and uses it on the task's thread
 * as a rule. The end of the task closes Spark's iterators.
 */
final class SparkFetch {
  private static final package$ SETTINGS = package$.MODULE$;

  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;
  private final SparkEnv env = SparkEnv.get();
  private final SparkConf conf = env.conf();

  SparkFetch(TaskContext context, ShuffleReadMetricsReporter metrics) {
    this.context = context;
    this.metrics = metrics;
  }

  /**
   * Returns the blocks as they come.
   *
   * @param batch true if contiguous partitions may come as one block
   */
  Iterator<Tuple2<BlockId, InputStream>> blocks(
      BlockStoreClient client,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress,
      boolean batch) {
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocksByAddress,
            env.serializerManager()::wrapStream,
            maxBytesInFlight(),
            this.<Integer>setting(SETTINGS.REDUCER_MAX_REQS_IN_FLIGHT()),
            this.<Integer>setting(SETTINGS.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            this.<Long>setting(SETTINGS.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            this.<Integer>setting(SETTINGS.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            this.<Boolean>setting(SETTINGS.SHUFFLE_DETECT_CORRUPT()),
            this.<Boolean>setting(SETTINGS.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            this.<Boolean>setting(SETTINGS.SHUFFLE_CHECKSUM_ENABLED()),
            conf.get(SETTINGS.SHUFFLE_CHECKSUM_ALGORITHM()),
            metrics,
            batch,
            new SystemClock())
        .toCompletionIterator();
  }

  /** Returns the records of all blocks as they come. Stops if the task is killed. */
  @SuppressWarnings("unchecked") // Scala's variance, which Java cannot express.
  <K, C> Iterator<Product2<K, C>> records(
      Iterator<Tuple2<BlockId, InputStream>> blocks, SerializerInstance serializer) {
    Iterator<Tuple2<Object, Object>> records =
        blocks
            .flatMap(block -> serializer.deserializeStream(block._2()).asKeyValueIterator())
            .map(
                record -> {
                  metrics.incRecordsRead(1);
                  return record;
                });
    Iterator<?> completing =
        CompletionIterator.apply(
            records,
            () -> {
              context.taskMetrics().mergeShuffleReadMetrics();
              return BoxedUnit.UNIT;
            });
    return new InterruptibleIterator<>(context, (Iterator<Product2<K, C>>) completing);
  }

  long maxBytesInFlight() {
    return this.<Long>setting(SETTINGS.REDUCER_MAX_SIZE_IN_FLIGHT()) * 1024 * 1024;
  }

  /** Returns a setting. Java sees Spark's settings of primitive types as Objects. */
  @SuppressWarnings("unchecked")
  <T> T setting(ConfigEntry<Object> entry) {
    return (T) conf.get(entry);
  }
}
