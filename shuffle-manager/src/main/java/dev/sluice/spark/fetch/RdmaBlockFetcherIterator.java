// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.spark.fetch.DecodedBatchStream.BatchStreams;
import dev.sluice.spark.fetch.DecodedBatchStream.Unchecked;
import dev.sluice.spark.fetch.RemoteBatches.Arrival;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Streams of a reader's blocks, with each block in exactly one of them. Remote blocks come in the
 * order of their arrival, in batches or from Spark's iterators. One such iterator fetches the
 * blocks that are not fetched in batches. Others fetch the blocks that groups leave to Spark. Local
 * blocks come while nothing else is there.
 *
 * <p>{@code RdmaShuffleReader} makes and starts it; the iterator of its records pulls it. One
 * thread uses it, the task's as a rule. After reading everything, it releases its memory. If the
 * task ends before, {@link RemoteBatches} does so, and nothing more can be read. The memory of this
 * object itself is heap.
 */
public final class RdmaBlockFetcherIterator extends AbstractIterator<Tuple2<BlockId, InputStream>> {
  private final SparkReading spark;
  private final LocalBatches local;
  private final RemoteBatches remote;
  private final CountingReadMetrics metrics;
  private final List<ExecutorBlocks> groups = new ArrayList<>();

  /** Blocks that are not fetched in batches. */
  @SuppressWarnings("NullAway.Init") // set by start()
  private SparkBlocks beside;

  /** Iterators over blocks that groups left to Spark, as long as they have more. */
  private final List<SparkBlocks> left = new ArrayList<>();

  /** Local blocks that are not copied. Spark's iterator has them as soon as it is made. */
  @SuppressWarnings("NullAway.Init") // set by start()
  private SparkBlocks own;

  /** Arrival that {@link #hasNext} has found and {@link #next} has not returned; null for none. */
  private @Nullable Arrival next;

  /** Batch that is being read; null for none. */
  private @Nullable BatchStreams current;

  private boolean finished;

  /**
   * @param registry map outputs of this executor
   * @param remote for this reader alone; closed with the task
   */
  public RdmaBlockFetcherIterator(
      SparkReading spark,
      MapOutputRegistry registry,
      RemoteBatches remote,
      CountingReadMetrics metrics) {
    this.spark = spark;
    this.local = new LocalBatches(registry);
    this.remote = remote;
    this.metrics = metrics;
  }

  /** Way in which an executor's blocks may come. */
  public enum Source {
    LOCAL,
    REMOTE,
    /** Only as Spark fetches blocks. */
    SPARK
  }

  /**
   * Starts to fetch. Never blocks. Decides for each executor if its blocks are fetched in batches.
   *
   * @param tracked all blocks of the reduce task
   * @param batch as in {@link ExecutorBlocks#of}
   * @throws IllegalStateException if the task has ended
   */
  public void start(
      List<BlocksByAddress> tracked, Function<BlockManagerId, Source> sources, boolean batch) {
    // As in Spark's iterator: tasks that start together do not all ask the same executor first.
    List<BlocksByAddress> shuffled = new ArrayList<>(tracked);
    Collections.shuffle(shuffled);
    List<BlocksByAddress> rest = new ArrayList<>();
    List<BlocksByAddress> streamed = new ArrayList<>();
    for (BlocksByAddress blocks : shuffled) {
      Source source = sources.apply(blocks.address());
      boolean isLocal = source == Source.LOCAL;
      ExecutorBlocks group =
          source == Source.SPARK ? null : ExecutorBlocks.of(blocks, isLocal, batch);
      if (group == null) {
        rest.add(blocks);
      } else if (isLocal ? local.start(group) : remote.start(group)) {
        groups.add(group);
      } else {
        (isLocal ? streamed : rest).add(blocks);
      }
    }
    own = fetch(streamed, false);
    beside = fetch(rest, false);
    fetchLeft();
  }

  @Override
  public boolean hasNext() {
    if (finished) {
      return false;
    }
    boolean isInBatch = current != null && current.hasNext();
    if (next == null && !isInBatch) {
      next = nextArrival();
      if (next == null) {
        finish();
      }
    }
    return next != null || isInBatch;
  }

  /** Ends the reader, as everything was read. A task may hold many such readers. */
  private void finish() {
    checkComplete();
    finished = true;
    releaseCurrent();
    groups.clear();
    remote.close();
  }

  @Override
  public Tuple2<BlockId, InputStream> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Arrival arrival = next;
    if (arrival == null) {
      return requireNonNull(current).next();
    }
    releaseCurrent();
    next = null;
    return switch (arrival) {
      case SparkBlocks blocks -> blocks.next();
      case FetchedBatch batch -> {
        batch.group().delivered(batch.blocks());
        current = new BatchStreams(batch, spark);
        yield current.next();
      }
    };
  }

  private void releaseCurrent() {
    if (current != null) {
      current.release();
      current = null;
    }
  }

  /** Returns the next arrival; null at the end. */
  private @Nullable Arrival nextArrival() {
    Arrival arrival = null;
    boolean isMoreToCome = true;
    while (arrival == null && isMoreToCome) {
      fetchLeft();
      arrival = arrived();
      if (arrival == null) {
        arrival = nextLocal();
      }
      isMoreToCome = arrival != null || awaitRemote();
    }
    if (arrival instanceof FetchedBatch batch) {
      metrics.arrived(batch);
    }
    return arrival != null ? arrival : remaining();
  }

  /**
   * Checks that each block was read once. A defect, such as an Error between two steps, must not
   * become a result that lacks some records.
   */
  private void checkComplete() {
    for (ExecutorBlocks group : groups) {
      if (!group.isComplete()) {
        throw new IllegalStateException("not every block of " + group.address() + " was read once");
      }
    }
  }

  /** Returns null if nothing is there now. */
  private @Nullable Arrival arrived() {
    Arrival arrival = remote.poll();
    while (arrival instanceof SparkBlocks blocks && !blocks.hasNext()) {
      arrival = remote.poll(); // It requested some blocks again.
    }
    return arrival;
  }

  private @Nullable Arrival nextLocal() {
    FetchedBatch batch = local.next();
    if (batch != null) {
      return batch;
    }
    List<BlocksByAddress> some = own.hasNext() ? List.of() : takeLeft(true, false, Long.MAX_VALUE);
    own = some.isEmpty() ? own : fetch(some, false);
    return own.hasNext() ? own : null;
  }

  /**
   * Returns an iterator of Spark's with blocks to come, if possible one that need not wait; null at
   * the end.
   */
  private @Nullable SparkBlocks remaining() {
    SparkBlocks first = null;
    for (SparkBlocks blocks : unread()) {
      boolean isFirst = first == null || (first.isAnswerToCome() && !blocks.isAnswerToCome());
      first = isFirst ? blocks : first;
    }
    return first;
  }

  private List<SparkBlocks> unread() {
    List<SparkBlocks> unread = new ArrayList<>(left);
    unread.add(beside);
    unread.removeIf(blocks -> !blocks.hasNext());
    return unread;
  }

  /**
   * Fetches the blocks that groups left to Spark. While one iterator has much under way, another
   * one fetches them at once, so that the loss of an executor is noticed early. Blocks whose READs
   * are late have iterators of their own, which READ nothing. All iterators of one kind together
   * have as many bytes under way as one may have, so that neither kind waits for the other.
   */
  private void fetchLeft() {
    left.removeIf(blocks -> !blocks.hasNext());
    fetchLeft(true);
    fetchLeft(false);
  }

  private void fetchLeft(boolean late) {
    List<BlocksByAddress> some = takeLeft(false, late, room(late));
    if (!some.isEmpty()) {
      left.add(fetch(some, late));
    }
  }

  /** Returns the bytes that a further iterator of the kind may fetch. */
  private long room(boolean late) {
    List<SparkBlocks> alike = left.stream().filter(blocks -> blocks.areLate() == late).toList();
    long underWay = alike.stream().mapToLong(SparkBlocks::bytesLeft).sum();
    return alike.isEmpty() ? Long.MAX_VALUE : spark.maxBytesInFlight() - underWay;
  }

  private List<BlocksByAddress> takeLeft(boolean isLocal, boolean late, long room) {
    List<BlocksByAddress> some = new ArrayList<>();
    long bytes = 0;
    for (ExecutorBlocks group : groups) {
      if (group.hasLeft() && group.isLocal() == isLocal) {
        long leftBytes = group.leftBytes(late);
        if (leftBytes > 0 && bytes + leftBytes <= room) {
          some.add(group.takeLeft(late));
          bytes += some.getLast().bytes();
        }
      }
    }
    return some;
  }

  private boolean awaitRemote() {
    long start = System.nanoTime();
    try {
      return remote.await(Math.min(room(true), spark.maxBytesInFlight())) || awaitAnswer();
    } catch (InterruptedException e) {
      // Throws as Spark's iterator does, which is written in Scala.
      throw Unchecked.of(e);
    } finally {
      metrics.waited(System.nanoTime() - start);
    }
  }

  /**
   * Waits if there are several iterators and all of them wait for answers. A pull of one would
   * block while another may get its answer.
   */
  private boolean awaitAnswer() throws InterruptedException {
    fetchLeft();
    List<SparkBlocks> unread = unread();
    boolean waits = unread.size() > 1;
    for (SparkBlocks blocks : unread) {
      waits &= blocks.isAnswerToCome();
    }
    if (waits) {
      remote.awaitAnswer();
    }
    return waits;
  }

  private SparkBlocks fetch(List<BlocksByAddress> some, boolean late) {
    long bytes = 0;
    int count = 0;
    for (BlocksByAddress blocks : some) {
      bytes += blocks.bytes();
      count += blocks.size();
    }
    SparkBlocks fetched = new SparkBlocks(bytes, count, late, remote::answered);
    fetched.are(
        some.isEmpty()
            ? CollectionConverters.asScala(Collections.emptyIterator())
            : spark.fetch(some, fetched));
    return fetched;
  }

  /**
   * Parts of reading that Spark does for a task. {@code RdmaShuffleReader} implements it; {@link
   * RdmaBlockFetcherIterator} and its streams call it, on the task's thread as a rule.
   */
  public interface SparkReading {
    /**
     * Starts to fetch blocks by an iterator of Spark's own.
     *
     * @param asker told of requests and answers
     */
    Iterator<Tuple2<BlockId, InputStream>> fetch(List<BlocksByAddress> blocks, SparkBlocks asker);

    /**
     * Returns the bytes that one such iterator may have under way: spark.reducer.maxSizeInFlight.
     */
    long maxBytesInFlight();

    /**
     * Returns true if the bytes of several blocks, one after the other, can be read as one block.
     */
    boolean concatenates();

    /** Decompresses a block by SerializerManager#wrapStream. */
    InputStream wrap(BlockId blockId, InputStream stream);

    /**
     * Returns true if an error of a wrapped stream fails the fetch (spark.shuffle.detectCorrupt).
     */
    boolean detectsCorruption();
  }
}
