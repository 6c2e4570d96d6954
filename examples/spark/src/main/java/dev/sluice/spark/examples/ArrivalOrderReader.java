// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.util.TaskCompletionListener;
import org.jspecify.annotations.Nullable;
import scala.Product2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads a reduce task's blocks in the order in which they arrive. Asks all executors for all blocks
 * at once, without Spark's iterator, and decodes the blocks on the task's thread.
 *
 * <p>{@link ArrivalOrderShuffleManager} makes one for each task, on the task's thread, and calls
 * {@link #add} for each executor. {@code RdmaShuffle}'s client calls the methods of {@link
 * BlockFetchingListener} on threads that all tasks of the executor share. They only put the block
 * in a queue, since decoding there would hold up all other tasks. A failed fetch becomes a {@link
 * FetchFailedException} on the task's thread, so that Spark writes the map output again. Each block
 * that arrives is released once: after it was read, or at the end of the task.
 *
 * <p>This reader is kept short. Unlike Spark's iterator it does not limit the bytes in flight
 * ({@code spark.reducer.maxSizeInFlight}): all blocks of a task have to fit into memory.
 */
final class ArrivalOrderReader<K, C> implements ShuffleReader<K, C>, BlockFetchingListener {
  private static final long TIMEOUT_SECONDS = 60;

  /** A block that the task waits for, and the executor that has it. */
  private record Expected(BlockManagerId from, ShuffleBlockId id, int mapIndex) {}

  /** Result of a fetch: bytes or a failure; the other one is null. */
  private record Fetched(String id, @Nullable ManagedBuffer bytes, @Nullable Throwable failure) {}

  private final SerializerInstance serializer;
  private final BlockStoreClient client;
  private final ShuffleReadMetricsReporter metrics;
  private final Map<String, Expected> expected = new HashMap<>();
  private final LinkedBlockingQueue<Fetched> results = new LinkedBlockingQueue<>();
  private volatile boolean taskEnded;

  /** Block whose records are being read, on the task's thread; null before the first one. */
  private @Nullable Fetched current;

  ArrivalOrderReader(
      SerializerInstance serializer,
      BlockStoreClient client,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    this.serializer = serializer;
    this.client = client;
    this.metrics = metrics;
    TaskCompletionListener ended =
        task -> {
          taskEnded = true;
          releaseAll();
          releaseCurrent();
          task.taskMetrics().mergeShuffleReadMetrics();
        };
    context.addTaskCompletionListener(ended);
  }

  /**
   * Requests an executor's blocks. The map output tracker lists them as id, size and map index.
   * Blocks of this executor come from its own disk.
   */
  void add(BlockManagerId from, List<Tuple3<BlockId, Object, Object>> blocks) {
    for (var block : blocks) {
      expected.put(
          block._1().name(), new Expected(from, (ShuffleBlockId) block._1(), (Integer) block._3()));
    }
    if (isLocal(from)) {
      blocks.forEach(block -> addLocal(block._1()));
    } else {
      String[] ids = blocks.stream().map(block -> block._1().name()).toArray(String[]::new);
      client.fetchBlocks(from.host(), from.port(), from.executorId(), ids, this, null);
      metrics.incRemoteBlocksFetched(ids.length);
    }
  }

  private static boolean isLocal(BlockManagerId executor) {
    return executor.executorId().equals(SparkEnv.get().executorId());
  }

  private void addLocal(BlockId id) {
    try {
      ManagedBuffer bytes = SparkEnv.get().blockManager().getLocalBlockData(id);
      results.add(new Fetched(id.name(), bytes, null));
      metrics.incLocalBlocksFetched(1);
    } catch (Exception e) { // Scala's methods throw checked exceptions without declaring them.
      onBlockFetchFailure(id.name(), e);
    }
  }

  @Override
  public void onBlockFetchSuccess(String id, ManagedBuffer bytes) {
    results.add(new Fetched(id, bytes.retain(), null));
    if (taskEnded) {
      releaseAll();
    }
  }

  @Override
  public void onBlockFetchFailure(String id, Throwable failure) {
    results.add(new Fetched(id, null, failure));
  }

  /** Returns the records of as many results as blocks are expected, in the order of arrival. */
  @Override
  public Iterator<Product2<K, C>> read() {
    return CollectionConverters.asScala(List.copyOf(expected.keySet()).iterator())
        .flatMap(block -> records(next()));
  }

  private Fetched next() {
    releaseCurrent();
    try {
      Fetched result = results.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      if (result == null) {
        throw new IllegalStateException("no block arrived within " + TIMEOUT_SECONDS + " s");
      }
      current = result;
      return result;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /**
   * Returns the records one by one. A serializer may reuse one object for all, as that of Spark SQL
   * does.
   */
  private Iterator<Product2<K, C>> records(Fetched result) {
    Expected block = requireNonNull(expected.get(result.id()));
    ManagedBuffer bytes = result.bytes();
    if (bytes == null) {
      throw ArrivalOrderReader.<RuntimeException>unchecked(
          failed(block, requireNonNull(result.failure())));
    }
    if (isLocal(block.from())) {
      metrics.incLocalBytesRead(bytes.size());
    } else {
      metrics.incRemoteBytesRead(bytes.size());
    }
    try {
      InputStream stream = bytes.createInputStream();
      return serializer
          .deserializeStream(SparkEnv.get().serializerManager().wrapStream(block.id(), stream))
          .asKeyValueIterator()
          .map(ArrivalOrderReader::<K, C>typed);
    } catch (IOException e) {
      throw ArrivalOrderReader.<RuntimeException>unchecked(failed(block, e));
    }
  }

  /** The failure that makes Spark write the map output again. */
  private static FetchFailedException failed(Expected block, Throwable cause) {
    return new FetchFailedException(
        block.from(),
        block.id().shuffleId(),
        block.id().mapId(),
        block.mapIndex(),
        block.id().reduceId(),
        cause.getMessage(),
        cause);
  }

  /** Releases blocks that no one has read. Each is released once, because it leaves the queue. */
  private void releaseAll() {
    for (Fetched result = results.poll(); result != null; result = results.poll()) {
      release(result);
    }
  }

  private void releaseCurrent() {
    if (current != null) {
      release(current);
      current = null;
    }
  }

  private static void release(Fetched result) {
    if (result.bytes() != null) {
      result.bytes().release();
    }
  }

  @SuppressWarnings("unchecked") // The writer was given these types.
  private static <K, C> Product2<K, C> typed(Object record) {
    return (Product2<K, C>) record;
  }

  /** Scala throws checked exceptions without declaring them; Java has to be told. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }
}
