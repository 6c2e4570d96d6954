// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.comet;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import org.apache.comet.CometConf;
import org.apache.comet.Native;
import org.apache.comet.vector.NativeUtil;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.sql.comet.execution.shuffle.CometColumnarShuffle$;
import org.apache.spark.sql.comet.execution.shuffle.CometShuffleDependency;
import org.apache.spark.sql.comet.execution.shuffle.CometShuffleReader;
import org.apache.spark.sql.comet.execution.shuffle.NativeBatchDecoderIterator;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.BoxedUnit;

/**
 * Reads a reduce task's partitions of one of Comet's exchanges. {@link CometRdmaShuffleManager}
 * makes one for each request of a task. Spark's own iterator fetches the blocks through the given
 * client, and Comet's code decodes them. The task's thread calls all methods, and one of {@link
 * #read} and {@link #readAsRawStream} once. Memory is freed at the latest when the task ends.
 *
 * @param <K> type of the keys; Comet ignores them
 * @param <C> type of the values, {@link ColumnarBatch}
 */
final class CometRdmaReader<K, C> implements CometShuffleReader<K, C> {
  private static final package$ SETTINGS = package$.MODULE$;

  private final CometShuffleDependency<?, ?, ?> dependency;
  private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
  private final BlockStoreClient client;
  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;
  private final boolean mayBatchFetch;
  private final SparkEnv env = SparkEnv.get();
  private final SparkConf conf = env.conf();

  /**
   * @param blocks answer of the map output tracker; read once
   * @param mayBatchFetch true if contiguous partitions of a map output are requested together
   */
  CometRdmaReader(
      CometShuffleDependency<?, ?, ?> dependency,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
      BlockStoreClient client,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      boolean mayBatchFetch) {
    this.dependency = dependency;
    this.blocks = blocks;
    this.client = client;
    this.context = context;
    this.metrics = metrics;
    this.mayBatchFetch = mayBatchFetch;
  }

  /** Returns the batches of all blocks. Each is valid until the next one is taken. */
  @Override
  public Iterator<Product2<K, C>> read() {
    Decoder decoder = new Decoder();
    context.addTaskCompletionListener(decoder);
    Iterator<Tuple2<Integer, ColumnarBatch>> batches =
        fetch()
            .flatMap(block -> decoder.batches(block._2()))
            .map(
                batch -> {
                  metrics.incRecordsRead(batch.numRows());
                  return new Tuple2<>(0, batch);
                });
    Iterator<?> completing =
        CompletionIterator.apply(
            batches,
            () -> {
              context.taskMetrics().mergeShuffleReadMetrics();
              return BoxedUnit.UNIT;
            });
    return new InterruptibleIterator<>(context, retyped(completing));
  }

  /** Returns the bytes of all blocks, one after the other. A native operator decodes them. */
  @Override
  public InputStream readAsRawStream() {
    Iterator<InputStream> streams = fetch().map(Tuple2::_2);
    return new KillableStream(
        new SequenceInputStream(CollectionConverters.asJavaEnumeration(streams)), context);
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetch() {
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocks,
            (id, stream) -> decrypted(stream),
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
            mayBatchFetch && concatenates(),
            new SystemClock())
        .toCompletionIterator();
  }

  /** Decrypts a columnar exchange's block. Comet never encrypts others, and compresses itself. */
  private InputStream decrypted(InputStream stream) {
    SerializerManager serializers = env.serializerManager();
    return dependency.shuffleType().equals(CometColumnarShuffle$.MODULE$)
        ? serializers.wrapForEncryption(stream)
        : stream;
  }

  /**
   * Returns true if contiguous partitions may come as one block, by the rules of Comet's reader.
   */
  private boolean concatenates() {
    CompressionCodec$ codecs = CompressionCodec$.MODULE$;
    return dependency.serializer().supportsRelocationOfSerializedObjects()
        && !this.<Boolean>setting(SETTINGS.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        && !this.<Boolean>setting(SETTINGS.IO_ENCRYPTION_ENABLED())
        && (!this.<Boolean>setting(SETTINGS.SHUFFLE_COMPRESS())
            || codecs.supportsConcatenationOfSerializedStreams(codecs.createCodec(conf)));
  }

  /** Returns a setting. Java sees Spark's settings of primitive types as Objects. */
  private <T> T setting(ConfigEntry<Object> entry) {
    return retyped(conf.get(entry));
  }

  /** Casts for Scala's types, which Java cannot express. */
  @SuppressWarnings("unchecked")
  private static <T> T retyped(Object object) {
    return (T) object;
  }

  /** Decodes blocks one after the other, and frees the last one's memory when the task ends. */
  private final class Decoder implements TaskCompletionListener {
    private final Native library = new Native();
    private final NativeUtil vectors = new NativeUtil();
    private final boolean traces = (Boolean) CometConf.COMET_TRACING_ENABLED().get();
    private final int bufferBytes =
        Math.toIntExact((Long) CometConf.COMET_SHUFFLE_READ_BUFFER_SIZE().get());

    /** Null before the first block. */
    private @Nullable NativeBatchDecoderIterator current;

    Iterator<ColumnarBatch> batches(InputStream block) {
      closeCurrent();
      current =
          NativeBatchDecoderIterator.apply(
              block,
              dependency.decodeTime(),
              library,
              vectors,
              traces,
              NativeBatchDecoderIterator.apply$default$6(),
              bufferBytes);
      return current;
    }

    private void closeCurrent() {
      if (current != null) {
        current.close();
      }
    }

    @Override
    public void onTaskCompletion(TaskContext task) {
      closeCurrent();
      vectors.close();
    }
  }

  /** Stream that fails when its task is killed: native code, which reads it, does not look. */
  private static final class KillableStream extends FilterInputStream {
    private final TaskContext context;

    KillableStream(InputStream bytes, TaskContext context) {
      super(bytes);
      this.context = context;
    }

    @Override
    public int read() throws IOException {
      context.killTaskIfInterrupted();
      return super.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      context.killTaskIfInterrupted();
      return super.read(bytes, offset, length);
    }
  }
}
