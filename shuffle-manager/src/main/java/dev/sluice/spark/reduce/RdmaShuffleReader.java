// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.reduce;

import dev.sluice.spark.fetch.BlocksByAddress;
import dev.sluice.spark.fetch.CountingReadMetrics;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.Source;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.SparkReading;
import dev.sluice.spark.fetch.RdmaBlockStoreClient;
import dev.sluice.spark.fetch.SparkBlocks;
import dev.sluice.spark.version.ExternalSorters;
import java.io.InputStream;
import java.util.List;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.FallbackStorage;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * Reads a reduce task's partitions as Spark's BlockStoreShuffleReader does. Small blocks of an
 * executor are fetched in batches. Spark's own iterator fetches all others, but through our block
 * store client. {@code SluiceShuffle} makes one per request of a task; Spark calls {@link #read}
 * once. A task may make many, on its own thread or another one, even after it has completed. A
 * reader's memory is freed after the last record, or when the task completes.
 *
 * @param <K> type of the keys
 * @param <C> type of the combined values
 */
public final class RdmaShuffleReader<K, C> implements ShuffleReader<K, C> {
  private static final package$ SETTINGS = package$.MODULE$;

  private final ShuffleDependency<K, ?, C> dependency;
  private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
  private final TaskContext context;
  private final CountingReadMetrics metrics;
  private final boolean shouldBatchFetch;
  private final ExecutorFetching executor;
  private final Serializer serializer;
  private final SparkEnv env = SparkEnv.get();
  private final SparkConf conf = env.conf();

  /**
   * @param blocks answer of the map output tracker; read once
   * @param shouldBatchFetch true if Spark requests contiguous partitions as one block
   */
  public RdmaShuffleReader(
      BaseShuffleHandle<K, ?, C> handle,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      boolean shouldBatchFetch,
      ExecutorFetching executor) {
    this.dependency = handle.dependency();
    this.blocks = blocks;
    this.context = context;
    this.metrics = new CountingReadMetrics(metrics, executor.counters());
    this.shouldBatchFetch = shouldBatchFetch;
    this.executor = executor;
    this.serializer = executor.serializers().get(handle.shuffleId(), dependency.serializer());
  }

  /**
   * @throws IllegalStateException if the task has completed: the fetched bytes would never be freed
   */
  @Override
  public Iterator<Product2<K, C>> read() {
    if (context.isCompleted()) {
      throw new IllegalStateException(
          "task " + context.taskAttemptId() + " has completed, and cannot read a shuffle any more");
    }
    Iterator<Product2<K, C>> result = combine(records(fetch(), serializer.newInstance()));
    // Aggregator and sorter have consumed the iterator that stops when the task is killed.
    return result instanceof InterruptibleIterator
        ? result
        : new InterruptibleIterator<>(context, result);
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetch() {
    boolean concatenates = concatenates();
    boolean batch = shouldBatchFetch && concatenates;
    return executor
        .gathering()
        .map(gathering -> gather(gathering, concatenates, batch))
        .orElseGet(() -> blocks(executor.client(), blocks, batch));
  }

  /**
   * Returns blocks by Spark's own iterator, as they come. The end of the task closes it.
   *
   * @param batch true if contiguous partitions may come as one block
   */
  private Iterator<Tuple2<BlockId, InputStream>> blocks(
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

  private long maxBytesInFlight() {
    return this.<Long>setting(SETTINGS.REDUCER_MAX_SIZE_IN_FLIGHT()) * 1024 * 1024;
  }

  /** Returns a setting. Java sees Spark's settings of primitive types as Objects. */
  private <T> T setting(ConfigEntry<Object> entry) {
    return retyped(conf.get(entry));
  }

  /** Fetches blocks of an executor in batches, and the others by Spark's iterator. */
  private Iterator<Tuple2<BlockId, InputStream>> gather(
      ExecutorFetching.Gathering gathering, boolean concatenates, boolean batch) {
    RdmaBlockStoreClient client = gathering.client();
    RdmaBlockFetcherIterator gathered =
        new RdmaBlockFetcherIterator(
            reading(client, concatenates, batch),
            gathering.registry(),
            client.gather(context, metrics::arrived),
            metrics);
    gathered.start(BlocksByAddress.of(blocks), address -> source(address, gathering.own()), batch);
    return gathered;
  }

  private Source source(BlockManagerId address, Source ofOwn) {
    BlockManagerId own = env.blockManager().blockManagerId();
    if (address.executorId().equals(own.executorId())) {
      return ofOwn;
    }
    boolean fallback =
        address.executorId().equals(FallbackStorage.FALLBACK_BLOCK_MANAGER_ID().executorId());
    boolean fromDisk =
        env.blockManager().hostLocalDirManager().isDefined() && address.host().equals(own.host());
    return fallback || fromDisk ? Source.SPARK : Source.REMOTE;
  }

  private SparkReading reading(RdmaBlockStoreClient client, boolean concatenates, boolean batch) {
    return new SparkReading() {
      @Override
      public boolean concatenates() {
        return concatenates;
      }

      @Override
      public Iterator<Tuple2<BlockId, InputStream>> fetch(
          List<BlocksByAddress> tracked, SparkBlocks asker) {
        return blocks(client.telling(asker, context), BlocksByAddress.toSpark(tracked), batch);
      }

      @Override
      public long maxBytesInFlight() {
        return RdmaShuffleReader.this.maxBytesInFlight();
      }

      @Override
      public InputStream wrap(BlockId blockId, InputStream stream) {
        return env.serializerManager().wrapStream(blockId, stream);
      }

      @Override
      public boolean detectsCorruption() {
        return RdmaShuffleReader.this.<Boolean>setting(SETTINGS.SHUFFLE_DETECT_CORRUPT());
      }
    };
  }

  /** Returns true if the bytes of several blocks, one after the other, can be read as one block. */
  private boolean concatenates() {
    if (!serializer.supportsRelocationOfSerializedObjects()) {
      return false;
    }
    // Streams of encrypted partitions cannot be read as one (SPARK-34790).
    if (this.<Boolean>setting(SETTINGS.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        || this.<Boolean>setting(SETTINGS.IO_ENCRYPTION_ENABLED())) {
      return false;
    }
    CompressionCodec$ codecs = CompressionCodec$.MODULE$;
    return !this.<Boolean>setting(SETTINGS.SHUFFLE_COMPRESS())
        || codecs.supportsConcatenationOfSerializedStreams(codecs.createCodec(conf));
  }

  /** Returns the records of all blocks as they come. Stops if the task is killed. */
  private Iterator<Product2<K, C>> records(
      Iterator<Tuple2<BlockId, InputStream>> fetched, SerializerInstance deserializer) {
    Iterator<Tuple2<Object, Object>> records =
        fetched
            .flatMap(block -> deserializer.deserializeStream(block._2()).asKeyValueIterator())
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
    return new InterruptibleIterator<>(context, retyped(completing));
  }

  private Iterator<Product2<K, C>> combine(Iterator<Product2<K, C>> records) {
    Option<Aggregator<K, Object, C>> aggregator = retyped(dependency.aggregator());
    if (dependency.keyOrdering().isDefined()) {
      return sort(records, aggregator);
    }
    if (aggregator.isEmpty()) {
      return records;
    }
    if (dependency.mapSideCombine()) {
      return retyped(aggregator.get().combineCombinersByKey(records, context));
    }
    // The records are values, of a type that only the aggregator knows.
    return retyped(aggregator.get().combineValuesByKey(retyped(records), context));
  }

  private Iterator<Product2<K, C>> sort(
      Iterator<Product2<K, C>> records, Option<Aggregator<K, Object, C>> aggregator) {
    Option<Aggregator<K, Object, C>> combiner =
        dependency.mapSideCombine() && aggregator.isDefined()
            ? retyped(Option.apply(ofCombined(aggregator.get())))
            : aggregator;
    ExternalSorter<K, Object, C> sorter =
        ExternalSorters.create(context, combiner, dependency.keyOrdering(), serializer);
    return sorter.insertAllAndUpdateMetrics(retyped(records));
  }

  /** Returns the aggregator for values that the map side has combined. */
  private static <K, C> Aggregator<K, C, C> ofCombined(Aggregator<K, Object, C> aggregator) {
    return new Aggregator<>(
        combined -> combined, aggregator.mergeCombiners(), aggregator.mergeCombiners());
  }

  /** Casts for Scala's variance and the erased types of values, which Java cannot express. */
  @SuppressWarnings("unchecked")
  private static <T> T retyped(Object object) {
    return (T) object;
  }
}
