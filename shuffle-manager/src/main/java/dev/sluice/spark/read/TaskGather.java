package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.gather.RemoteChunks;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers a reduce task's blocks of other executors in chunks, within a limit of bytes that are
 * READ or wait to be consumed: what is released makes room for more. The task starts it, takes the
 * chunks, which are verified then, and closes it; any thread answers. The lock is held for
 * operations on queues only.
 *
 * <p>What is under way has one answer, the first. It is the waiting task that keeps the deadlines:
 * nobody else waits, and there is no timer to wake for each chunk.
 */
final class TaskGather implements RemoteChunks {
  /** What the task waits for. Called with the lock held. */
  interface Step {
    /** When it has to be done. */
    long deadlineNanos();

    /** Leaves its blocks to Spark, whose way says and counts what is wrong. */
    void leave();

    /** What it has of the limit. */
    int bytes();
  }

  private static final Logger LOG = LoggerFactory.getLogger(TaskGather.class);

  /** So many chunks fit into the limit, so that one is consumed while others are READ. */
  private static final int MIN_CHUNKS = 4;

  private final ReadPath path;
  private final long maxBytes;

  // Guarded by this.
  private final Queue<ChunkRead> waiting = new ArrayDeque<>();
  private final Set<Step> underWay = new LinkedHashSet<>();
  private final Queue<ChunkRead> arrived = new ArrayDeque<>();
  private long bytes;
  private boolean requesting;

  /**
   * @param maxBytes that are READ or wait at a time, or one chunk
   */
  TaskGather(ReadPath path, long maxBytes) {
    this.path = path;
    this.maxBytes = maxBytes;
  }

  @Override
  public boolean start(BlockGroup group) {
    // Of estimated sizes only the mean is right; and what is too large comes last, after a wait.
    if (group.meanBytes() > maxMemberBytes() / 2) {
      return false;
    }
    String executorId = LoopbackSwitch.realId(group.address().executorId());
    CompletableFuture<Located> locating =
        path.locator().locate(group.shuffleId(), executorId, group.mapIds());
    if (locating.isDone() && locating.join().peer() == null) {
      return false;
    }
    GroupGather gather = new GroupGather(path, this, group);
    synchronized (this) {
      underWay.add(gather);
    }
    gather.start(locating);
    return true;
  }

  /** Bytes of a member at most: half the largest buffer, so that two of them share its room. */
  int maxMemberBytes() {
    int largest = path.transport().maxBufferBytes() / 2;
    return (int) Math.min(largest, Math.max(1, maxBytes / MIN_CHUNKS));
  }

  /** Bytes of a chunk of several members at most. */
  private int maxChunkBytes() {
    return Math.min(path.maxGroupBytes(), maxMemberBytes());
  }

  /** A group's answer: where it is to be READ. */
  void located(GroupGather gather, PeerAddress peer, LocatedGroup members) {
    List<ChunkRead> chunks = chunks(peer, members);
    synchronized (this) {
      if (!underWay.remove(gather)) {
        return;
      }
      waiting.addAll(chunks);
      notifyAll();
    }
    request();
  }

  private List<ChunkRead> chunks(PeerAddress peer, LocatedGroup members) {
    List<ChunkRead> chunks = new ArrayList<>();
    int maxChunkBytes = maxChunkBytes();
    int size = members.group().size();
    int from = 0;
    int length = 0;
    for (int member = 0; member < size; member++) {
      if (length > 0 && length + members.length(member) > maxChunkBytes) {
        chunks.add(new ChunkRead(path, this, peer, members, from, member, length));
        from = member;
        length = 0;
      }
      length += members.length(member);
    }
    if (length > 0) {
      chunks.add(new ChunkRead(path, this, peer, members, from, size, length));
    }
    return chunks;
  }

  /** Starts what there is room for. One thread at a time, in a loop: a chunk may fail at once. */
  private void request() {
    synchronized (this) {
      if (requesting) {
        return;
      }
      requesting = true;
    }
    for (ChunkRead next = nextRequest(); next != null; next = nextRequest()) {
      next.start();
    }
  }

  private synchronized ChunkRead nextRequest() {
    ChunkRead first = waiting.peek();
    if (first == null || (bytes > 0 && bytes + first.bytes() > maxBytes)) {
      requesting = false;
      return null;
    }
    bytes += first.bytes();
    first.begin();
    underWay.add(first);
    return waiting.poll();
  }

  /** Whether the task still waits for an answer of the step. */
  synchronized boolean awaits(Step step) {
    return underWay.contains(step);
  }

  /**
   * A chunk's answer.
   *
   * @return false where there was another one: it is not to be delivered
   */
  synchronized boolean arrived(ChunkRead read) {
    boolean first = underWay.remove(read);
    if (first) {
      arrived.add(read);
      notifyAll();
    }
    return first;
  }

  /** A step's answer, unless there was another one: its blocks are left to Spark. */
  void giveUp(Step step, FallbackReason reason) {
    synchronized (this) {
      if (!underWay.remove(step)) {
        return;
      }
      step.leave();
      bytes -= step.bytes();
      notifyAll();
    }
    LOG.debug("{} is given up: {}", step, reason);
    request();
  }

  /** A chunk was consumed. */
  void released(int chunkBytes) {
    synchronized (this) {
      bytes -= chunkBytes;
    }
    request();
  }

  /** Verified on this thread, which waits for it anyway: no other has to run for that. */
  @Override
  public Chunk poll() {
    for (ChunkRead read = nextArrived(); read != null; read = nextArrived()) {
      Chunk chunk = read.verify();
      if (chunk != null) {
        return chunk;
      }
    }
    return null;
  }

  private synchronized ChunkRead nextArrived() {
    return arrived.poll();
  }

  @Override
  public boolean await() throws InterruptedException {
    awaitAnswer().forEach(step -> giveUp(step, FallbackReason.DEADLINE));
    synchronized (this) {
      return !arrived.isEmpty() || isMoreToCome();
    }
  }

  /** Returns when a chunk has arrived, or none will, or steps are late: those. */
  private synchronized List<Step> awaitAnswer() throws InterruptedException {
    while (arrived.isEmpty() && isMoreToCome()) {
      long now = path.timer().nanoTime();
      List<Step> late = underWay.stream().filter(step -> step.deadlineNanos() - now <= 0).toList();
      if (!late.isEmpty()) {
        return late;
      }
      TimeUnit.NANOSECONDS.timedWait(this, nanosToDeadline(now));
    }
    return List.of();
  }

  private boolean isMoreToCome() {
    return !underWay.isEmpty() || !waiting.isEmpty();
  }

  private long nanosToDeadline(long now) {
    return underWay.stream()
        .mapToLong(step -> step.deadlineNanos() - now)
        .min()
        .orElse(TimeUnit.MILLISECONDS.toNanos(path.options().readTimeoutMs()));
  }

  @Override
  public synchronized List<Chunk> close() {
    waiting.clear();
    underWay.clear();
    List<Chunk> undelivered = arrived.stream().map(ChunkRead::chunk).toList();
    arrived.clear();
    notifyAll();
    return undelivered;
  }
}
