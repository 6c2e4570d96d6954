package dev.sluice.spark.gather;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The streams of a reduce task's blocks, remote ones in the order in which they arrive: gathered
 * chunks, and what iterators of Spark's have fetched, one of blocks that are not gathered, and
 * others of those that chunks could not be had of. Local ones come while nothing else is there.
 * Each block is in one of these, once. Used by the task, which closes it when it ends, whatever was
 * read until then.
 */
public final class GatheredBlocks extends AbstractIterator<Tuple2<BlockId, InputStream>> {
  private final SparkReading spark;
  private final LocalChunks local;
  private final RemoteChunks remote;
  private final ShuffleReadMetricsReporter metrics;
  private final ShuffleCounters counters;
  private final List<BlockGroup> groups = new ArrayList<>();
  private SparkBlocks beside;

  /** Of chunks that could not be had, those that have not ended. */
  private final List<SparkBlocks> left = new ArrayList<>();

  /** Local blocks that are not copied, which Spark's iterator has as soon as it is there. */
  private SparkBlocks own;

  private Arrival next;
  private ChunkStreams current;
  private volatile boolean closed;

  /**
   * @param registry this executor's map outputs
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
    List<TrackedBlocks> rest = new ArrayList<>(plan.rest());
    List<TrackedBlocks> streamed = new ArrayList<>();
    for (BlockGroup group : plan.groups()) {
      if (group.isLocal() ? local.start(group) : remote.start(group)) {
        groups.add(group);
      } else {
        (group.isLocal() ? streamed : rest).add(group.tracked());
      }
    }
    own = fetch(streamed);
    beside = fetch(rest);
  }

  @Override
  public boolean hasNext() {
    boolean isInChunk = current != null && current.hasNext();
    if (next == null && !isInChunk) {
      next = nextArrival();
      if (next == null) {
        checkComplete();
      }
    }
    return next != null || isInChunk;
  }

  @Override
  public Tuple2<BlockId, InputStream> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    if (next == null) {
      return current.next();
    }
    releaseCurrent();
    Arrival arrival = next;
    next = null;
    return switch (arrival) {
      case SparkBlocks blocks -> blocks.next();
      case Chunk chunk -> {
        count(chunk);
        chunk.group().delivered(chunk.blocks());
        current = new ChunkStreams(chunk, spark);
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

  /** What is to be read next; null at the end. */
  private Arrival nextArrival() {
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
    if (closed) {
      if (arrival instanceof Chunk chunk) {
        chunk.release();
      }
      throw new IllegalStateException("the task has ended");
    }
    return arrival != null ? arrival : remaining();
  }

  /**
   * A defect, such as an Error between two steps, must not be an answer that lacks some records.
   */
  private void checkComplete() {
    for (BlockGroup group : groups) {
      if (!group.isComplete()) {
        throw new IllegalStateException("not every block of " + group.address() + " was read once");
      }
    }
  }

  /** Null when there is nothing now. */
  private Arrival arrived() {
    Arrival arrival = remote.poll();
    while (arrival instanceof SparkBlocks blocks && !blocks.hasNext()) {
      arrival = remote.poll(); // It had more answers than blocks: some it has asked for again.
    }
    return arrival;
  }

  private Arrival nextLocal() {
    Chunk chunk = local.next();
    if (chunk != null) {
      return chunk;
    }
    List<TrackedBlocks> some = own.hasNext() ? List.of() : takeLeft(true, Long.MAX_VALUE);
    own = some.isEmpty() ? own : fetch(some);
    return own.hasNext() ? own : null;
  }

  /** What only Spark's iterators are yet to bring: from the first that need not wait. */
  private SparkBlocks remaining() {
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
   * What is left while an iterator has much under way is fetched by another one at once, so that
   * nobody learns late that an executor is lost: all of them have as many bytes as one may.
   */
  private void fetchLeft() {
    left.removeIf(blocks -> !blocks.hasNext());
    long room = left.isEmpty() ? Long.MAX_VALUE : spark.maxBytesInFlight();
    for (SparkBlocks blocks : left) {
      room -= blocks.bytes();
    }
    List<TrackedBlocks> some = takeLeft(false, room);
    if (!some.isEmpty()) {
      left.add(fetch(some));
    }
  }

  private List<TrackedBlocks> takeLeft(boolean isLocal, long room) {
    List<TrackedBlocks> some = new ArrayList<>();
    long bytes = 0;
    for (BlockGroup group : groups) {
      if (group.isLocal() == isLocal && group.hasLeft() && bytes + group.leftBytes() <= room) {
        some.add(group.takeLeft());
        bytes += some.getLast().bytes();
      }
    }
    return some;
  }

  private boolean awaitRemote() {
    long start = System.nanoTime();
    try {
      return remote.await() || awaitAnswer();
    } catch (InterruptedException e) {
      // As Spark's iterator does, which is written in Scala.
      throw Unchecked.of(e);
    } finally {
      metrics.incFetchWaitTime(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }
  }

  /** Of iterators that wait for answers none is pulled before another may have one. */
  private boolean awaitAnswer() throws InterruptedException {
    fetchLeft();
    List<SparkBlocks> unread = unread();
    boolean waits = !closed && unread.size() > 1;
    for (SparkBlocks blocks : unread) {
      waits &= blocks.isAnswerToCome();
    }
    if (waits) {
      remote.awaitAnswer();
    }
    return waits;
  }

  private SparkBlocks fetch(List<TrackedBlocks> some) {
    long bytes = 0;
    for (TrackedBlocks blocks : some) {
      bytes += blocks.bytes();
    }
    SparkBlocks fetched = new SparkBlocks(bytes, remote::answered);
    fetched.are(
        some.isEmpty()
            ? CollectionConverters.asScala(Collections.emptyIterator())
            : spark.fetch(some, fetched));
    return fetched;
  }

  private void count(Chunk chunk) {
    int blocks = chunk.blocks();
    counters.gathered(blocks);
    if (chunk.group().isLocal()) {
      metrics.incLocalBlocksFetched(blocks);
      metrics.incLocalBytesRead(chunk.bytes());
    } else {
      counters.read(blocks, chunk.bytes());
      counters.staged(chunk.way().stagedBytes());
      metrics.incRemoteBlocksFetched(blocks);
      metrics.incRemoteBytesRead(chunk.bytes());
      metrics.incRemoteReqsDuration(TimeUnit.NANOSECONDS.toMillis(chunk.way().requestNanos()));
    }
  }

  /** The task ends, whatever it has read. What arrived for it counts, as with Spark's iterator. */
  public void close() {
    closed = true;
    releaseCurrent();
    undelivered(next);
    remote.close().forEach(this::undelivered);
  }

  private void undelivered(Arrival arrival) {
    if (arrival instanceof Chunk chunk) {
      count(chunk);
      chunk.release();
    }
  }
}
