package dev.sluice.spark.gather;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The streams of a reduce task's blocks: gathered chunks first, remote ones as they arrive and
 * local ones meanwhile; then what an iterator of Spark's has fetched beside them; then, by another
 * one, the blocks of chunks that could not be had. Each block is in one of these, once. Used by the
 * task, which closes it when it ends, whatever was read until then.
 */
public final class GatheredBlocks extends AbstractIterator<Tuple2<BlockId, InputStream>> {
  private final SparkReading spark;
  private final LocalChunks local;
  private final RemoteChunks remote;
  private final ShuffleReadMetricsReporter metrics;
  private final ShuffleCounters counters;
  private final List<BlockGroup> groups = new ArrayList<>();
  private Iterator<Tuple2<BlockId, InputStream>> beside;
  private Iterator<Tuple2<BlockId, InputStream>> ungathered;
  private Chunk next;
  private Chunk current;
  private volatile boolean closed;

  /**
   * @param registry this executor's map outputs; null where none is registered
   * @param remote for this task alone, which closes it with this
   */
  public GatheredBlocks(
      SparkReading spark,
      MapOutputRegistry registry,
      RemoteChunks remote,
      ShuffleReadMetricsReporter metrics,
      ShuffleCounters counters) {
    this.spark = spark;
    this.local = new LocalChunks(registry);
    this.remote = remote;
    this.metrics = metrics;
    this.counters = counters;
  }

  /** Begins to fetch, once it is sure that {@link #close} will be called. Never blocks. */
  public void start(GatherPlan plan) {
    Map<BlockManagerId, List<Tuple3<BlockId, Object, Object>>> rest = new LinkedHashMap<>();
    for (BlockGroup group : plan.groups()) {
      if (group.isLocal() ? local.start(group) : remote.start(group)) {
        groups.add(group);
      } else {
        rest.computeIfAbsent(group.address(), _ -> new ArrayList<>()).addAll(group.blocks());
      }
    }
    beside =
        fetch(CollectionConverters.asScala(plan.rest().iterator()).concat(() -> byAddress(rest)));
  }

  @Override
  public boolean hasNext() {
    if (ungathered == null && next == null) {
      next = nextChunk();
      if (next == null) {
        Iterator<Tuple2<BlockId, InputStream>> left = fetch(byAddress(left()));
        ungathered = beside.concat(() -> left);
      }
    }
    return next != null || ungathered.hasNext();
  }

  @Override
  public Tuple2<BlockId, InputStream> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    if (next == null) {
      return ungathered.next();
    }
    release(current);
    current = next;
    next = null;
    count(current);
    return new Tuple2<>(
        current.group().blockId(current.firstMember()), new GatheredInputStream(current, spark));
  }

  private Chunk nextChunk() {
    Chunk chunk = remote.poll();
    if (chunk == null) {
      chunk = local.next();
    }
    while (chunk == null && awaitRemote()) {
      chunk = remote.poll();
    }
    if (closed) {
      release(chunk);
      throw new IllegalStateException("the task has ended");
    }
    return chunk;
  }

  private boolean awaitRemote() {
    long start = System.nanoTime();
    try {
      return remote.await();
    } catch (InterruptedException e) {
      // As Spark's iterator does, which is written in Scala.
      throw Unchecked.of(e);
    } finally {
      metrics.incFetchWaitTime(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }
  }

  /** What chunks could not be had of. */
  private Map<BlockManagerId, List<Tuple3<BlockId, Object, Object>>> left() {
    Map<BlockManagerId, List<Tuple3<BlockId, Object, Object>>> left = new LinkedHashMap<>();
    for (BlockGroup group : groups) {
      List<Tuple3<BlockId, Object, Object>> blocks = group.left();
      if (!blocks.isEmpty()) {
        left.computeIfAbsent(group.address(), _ -> new ArrayList<>()).addAll(blocks);
      }
    }
    return left;
  }

  private static Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> byAddress(
      Map<BlockManagerId, List<Tuple3<BlockId, Object, Object>>> blocks) {
    return CollectionConverters.asScala(blocks.entrySet().iterator())
        .map(e -> new Tuple2<>(e.getKey(), CollectionConverters.asScala(e.getValue())));
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetch(
      Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocksByAddress) {
    return blocksByAddress.isEmpty()
        ? CollectionConverters.asScala(Collections.emptyIterator())
        : spark.fetch(blocksByAddress);
  }

  private void count(Chunk chunk) {
    int blocks = chunk.blocks();
    counters.gathered(blocks);
    if (chunk.group().isLocal()) {
      metrics.incLocalBlocksFetched(blocks);
      metrics.incLocalBytesRead(chunk.bytes());
    } else {
      counters.read(blocks, chunk.bytes());
      metrics.incRemoteBlocksFetched(blocks);
      metrics.incRemoteBytesRead(chunk.bytes());
      metrics.incRemoteReqsDuration(TimeUnit.NANOSECONDS.toMillis(chunk.requestNanos()));
    }
  }

  /** The task ends, whatever it has read. What arrived for it counts, as with Spark's iterator. */
  public void close() {
    closed = true;
    release(current);
    undelivered(next);
    remote.close().forEach(this::undelivered);
  }

  private void undelivered(Chunk chunk) {
    if (chunk != null) {
      count(chunk);
      chunk.release();
    }
  }

  private static void release(Chunk chunk) {
    if (chunk != null) {
      chunk.release();
    }
  }
}
