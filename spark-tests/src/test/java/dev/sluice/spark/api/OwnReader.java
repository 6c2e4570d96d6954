package dev.sluice.spark.api;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Asks for all blocks of an executor at once, without Spark's iterator, and keeps the records. */
final class OwnReader<K, C> implements ShuffleReader<K, C> {
  private static final long TIMEOUT_SECONDS = 60;

  private final Serializer serializer;
  private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
  private final BlockStoreClient client;
  private final List<Product2<K, C>> records = new ArrayList<>();

  OwnReader(
      Serializer serializer,
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
      BlockStoreClient client) {
    this.serializer = serializer;
    this.blocks = blocks;
    this.client = client;
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    CollectionConverters.asJava(blocks)
        .forEachRemaining(
            peer ->
                read(
                    peer._1(),
                    CollectionConverters.asJava(peer._2()).stream().map(Tuple3::_1).toList()));
    return CollectionConverters.asScala(records.iterator());
  }

  private void read(BlockManagerId peer, List<BlockId> ids) {
    SparkEnv env = SparkEnv.get();
    if (peer.executorId().equals(env.executorId())) {
      ids.forEach(id -> add(id, env.blockManager().getLocalBlockData(id)));
    } else {
      Fetch fetch = new Fetch(ids.size());
      client.fetchBlocks(
          peer.host(),
          peer.port(),
          peer.executorId(),
          ids.stream().map(BlockId::name).toArray(String[]::new),
          fetch,
          null);
      fetch.await();
    }
  }

  private void add(BlockId id, ManagedBuffer block) {
    try {
      serializer
          .newInstance()
          .deserializeStream(
              SparkEnv.get().serializerManager().wrapStream(id, block.createInputStream()))
          .asKeyValueIterator()
          .foreach(record -> records.add(typed(record)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @SuppressWarnings("unchecked") // What the writer was given.
  private static <K, C> Product2<K, C> typed(Object record) {
    return (Product2<K, C>) record;
  }

  /** The answers for one peer, on the client's threads. */
  private final class Fetch implements BlockFetchingListener {
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private int missing;

    Fetch(int blocks) {
      this.missing = blocks;
    }

    @Override
    public synchronized void onBlockFetchSuccess(String id, ManagedBuffer data) {
      try {
        add(BlockId.apply(id), data);
        if (--missing == 0) {
          done.complete(null);
        }
      } catch (RuntimeException e) {
        done.completeExceptionally(e);
      }
    }

    @Override
    public void onBlockFetchFailure(String id, Throwable cause) {
      done.completeExceptionally(cause);
    }

    void await() {
      try {
        done.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException | InterruptedException | TimeoutException e) {
        throw new IllegalStateException("blocks did not come", e);
      }
    }
  }
}
