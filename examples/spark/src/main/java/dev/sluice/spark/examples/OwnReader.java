// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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
import scala.Product2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Asks for all blocks of all executors at once, without Spark's iterator. Decodes them on the
 * task's thread in the order in which they arrive.
 */
final class OwnReader<K, C> implements ShuffleReader<K, C>, BlockFetchingListener {
  private static final long TIMEOUT_SECONDS = 60;

  /** A block to come. */
  private record Wanted(BlockManagerId from, ShuffleBlockId id, int mapIndex) {}

  /** Result of a fetch: bytes or a failure. */
  private record Answer(String id, ManagedBuffer bytes, Throwable failure) {}

  private final SerializerInstance serializer;
  private final BlockStoreClient client;
  private final ShuffleReadMetricsReporter metrics;
  private final Map<String, Wanted> wanted = new HashMap<>();
  private final LinkedBlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

  OwnReader(
      SerializerInstance serializer,
      BlockStoreClient client,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    this.serializer = serializer;
    this.client = client;
    this.metrics = metrics;
    TaskCompletionListener ended =
        task -> {
          answers.forEach(OwnReader::release);
          task.taskMetrics().mergeShuffleReadMetrics();
        };
    context.addTaskCompletionListener(ended);
  }

  /** Adds an executor's blocks as the map output tracker lists them: id, size, map index. */
  void add(BlockManagerId from, List<Tuple3<BlockId, Object, Object>> blocks) {
    for (var block : blocks) {
      wanted.put(
          block._1().name(), new Wanted(from, (ShuffleBlockId) block._1(), (Integer) block._3()));
    }
    if (from.executorId().equals(SparkEnv.get().executorId())) {
      blocks.forEach(block -> own(block._1()));
    } else {
      String[] ids = blocks.stream().map(block -> block._1().name()).toArray(String[]::new);
      client.fetchBlocks(from.host(), from.port(), from.executorId(), ids, this, null);
      metrics.incRemoteBlocksFetched(ids.length);
    }
  }

  private void own(BlockId id) {
    answers.add(new Answer(id.name(), SparkEnv.get().blockManager().getLocalBlockData(id), null));
    metrics.incLocalBlocksFetched(1);
  }

  @Override
  public void onBlockFetchSuccess(String id, ManagedBuffer bytes) {
    answers.add(new Answer(id, bytes.retain(), null));
  }

  @Override
  public void onBlockFetchFailure(String id, Throwable failure) {
    answers.add(new Answer(id, null, failure));
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    return CollectionConverters.asScala(List.copyOf(wanted.keySet()).iterator())
        .flatMap(block -> records(next()));
  }

  private Answer next() {
    try {
      Answer answer = answers.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      if (answer == null) {
        throw new IllegalStateException("no answer within " + TIMEOUT_SECONDS + " s");
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private Iterator<Product2<K, C>> records(Answer answer) {
    Wanted block = wanted.get(answer.id());
    if (answer.failure() != null) {
      throw OwnReader.<RuntimeException>unchecked(failed(block, answer.failure()));
    }
    try {
      InputStream stream = answer.bytes().createInputStream();
      List<Product2<K, C>> records =
          CollectionConverters.asJava(
              serializer
                  .deserializeStream(
                      SparkEnv.get().serializerManager().wrapStream(block.id(), stream))
                  .asKeyValueIterator()
                  .map(OwnReader::<K, C>typed)
                  .toList());
      return CollectionConverters.asScala(records.iterator());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      release(answer);
    }
  }

  /** The failure that makes Spark write the map output again. */
  private static FetchFailedException failed(Wanted block, Throwable cause) {
    return new FetchFailedException(
        block.from(),
        block.id().shuffleId(),
        block.id().mapId(),
        block.mapIndex(),
        block.id().reduceId(),
        cause.getMessage(),
        cause);
  }

  private static void release(Answer answer) {
    if (answer.bytes() != null) {
      answer.bytes().release();
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
