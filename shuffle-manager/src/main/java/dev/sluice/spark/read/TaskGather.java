package dev.sluice.spark.read;

import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.spark.gather.Arrival;
import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.gather.RemoteChunks;
import dev.sluice.spark.gather.SparkBlocks;
import dev.sluice.spark.table.BlockLocator;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gathers a reduce task's blocks of other executors in chunks, within its part of the task's limit:
 * what is released makes room for more. The task starts it, takes the chunks, which are verified
 * then, and closes it; any thread answers. The lock is held for operations on queues only.
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

  /** What is in the queue for the task. */
  sealed interface Arrived permits GatheredChunk, Answered {}

  /** One of Spark's iterators has an answer. */
  private record Answered(SparkBlocks blocks) implements Arrived {}

  private static final Logger LOG = LoggerFactory.getLogger(TaskGather.class);

  /**
   * So many chunks fit into its part of the limit, so that one is consumed while others are READ.
   */
  private static final int MIN_CHUNKS = 4;

  /** A touch is sent within {@link Touch#INTERVAL_MS} and this of the last one. */
  private static final long TOUCH_NANOS = TimeUnit.MILLISECONDS.toNanos(Touch.INTERVAL_MS / 4);

  private final ReadPath path;
  private final TaskLimit limit;

  // Guarded by this.
  private final ChunkQueue waiting = new ChunkQueue();
  private final Set<Step> underWay = new LinkedHashSet<>();
  private final Queue<Arrived> arrived = new ArrayDeque<>();
  private long bytes;
  private boolean entered;
  private boolean requesting;

  /** Null while nothing waits. */
  private Future<?> touching;

  /** Something may have been left to Spark since the task waited last. */
  private boolean left;

  /**
   * @param limit the task's, or one chunk
   */
  TaskGather(ReadPath path, TaskLimit limit) {
    this.path = path;
    this.limit = limit;
  }

  TaskLimit limit() {
    return limit;
  }

  /**
   * Finding some of a group's blocks.
   *
   * @param members where they are is not known yet
   */
  private record Locating(BlockGroup group, BitSet members, long deadlineNanos) implements Step {
    @Override
    public void leave() {
      group.leave(members);
    }

    /** Nothing is READ yet. */
    @Override
    public int bytes() {
      return 0;
    }

    @Override
    public String toString() {
      return members.cardinality() + " blocks of " + group.address();
    }
  }

  @Override
  public boolean start(BlockGroup group) {
    // Of estimated sizes only the mean is right; and what is too large comes last, after a wait.
    if (group.meanBytes() > maxMemberBytes() / 2) {
      return false;
    }
    BitSet all = new BitSet();
    all.set(0, group.size());
    Locating step = new Locating(group, all, path.deadlineNanos());
    CompletableFuture<List<BlockLocator.Part>> locating =
        path.locate(group.address().executorId(), group, true, step.deadlineNanos());
    if (locating.state() == Future.State.SUCCESS
        && locating.resultNow().getFirst().blocks().peer() == null) {
      return false;
    }
    begin(step);
    locating.whenComplete((parts, failure) -> parted(step, parts, failure));
    return true;
  }

  private synchronized void begin(Step step) {
    underWay.add(step);
    if (!entered) {
      entered = true;
      limit.enter();
    }
  }

  /** Called with the lock held. */
  private void leaveLimit() {
    if (entered) {
      entered = false;
      limit.leave();
    }
  }

  /** Bytes of a member at most: half the largest buffer, so that two of them share its room. */
  int maxMemberBytes() {
    int largest = path.transport().maxBufferBytes() / 2;
    return (int) Math.min(largest, Math.max(1, limit.bytes() / MIN_CHUNKS));
  }

  /** Bytes of a chunk of several members at most. */
  private int maxChunkBytes() {
    long part = Math.max(1, limit.part() / MIN_CHUNKS);
    return (int) Math.min(Math.min(path.maxGroupBytes(), maxMemberBytes()), part);
  }

  /** A group's first answer: in which parts it will be found. */
  private void parted(Locating all, List<BlockLocator.Part> parts, Throwable failure) {
    if (failure != null) {
      failed(all, failure);
      return;
    }
    List<Locating> steps = new ArrayList<>();
    for (BlockLocator.Part part : parts) {
      steps.add(new Locating(all.group(), part.blocks().members(), all.deadlineNanos()));
    }
    synchronized (this) {
      if (!underWay.remove(all)) {
        return;
      }
      underWay.addAll(steps);
    }
    for (int i = 0; i < parts.size(); i++) {
      Locating step = steps.get(i);
      LocatedBlocks blocks = parts.get(i).blocks();
      parts.get(i).found().whenComplete((_, e) -> located(step, blocks, e));
    }
  }

  /** A part's answer: where it is to be READ. */
  private void located(Locating step, LocatedBlocks located, Throwable failure) {
    List<GatheredChunk> chunks;
    try {
      if (failure != null) {
        throw new IllegalStateException(failure);
      }
      chunks = layOut(step.group(), located);
    } catch (Throwable e) {
      failed(step, e);
      return;
    }
    synchronized (this) {
      if (!underWay.remove(step)) {
        return;
      }
      waiting.add(step.group(), chunks);
      consumed(0);
      left = true;
      notifyAll();
    }
    request();
    touchLater();
  }

  /**
   * A task may take minutes to consume what it has. Peers would take for idle what waits meanwhile,
   * and deregister it: who READ it then would cost all who READ there their queue pair.
   */
  private synchronized void touchLater() {
    if (touching == null && !waiting.isEmpty()) {
      touching = path.timer().schedule(this::touchWaiting, TOUCH_NANOS);
    }
  }

  private void touchWaiting() {
    List<GatheredChunk> firsts;
    synchronized (this) {
      touching = null;
      firsts = waiting.firsts();
    }
    firsts.forEach(GatheredChunk::touch);
    touchLater();
  }

  private void failed(Step step, Throwable e) {
    LOG.error("Gathering {} failed unexpectedly", step, e);
    giveUp(step, FallbackReason.TRANSPORT);
  }

  /** What cannot be READ and verified here, or is large, is left to Spark. */
  private List<GatheredChunk> layOut(BlockGroup group, LocatedBlocks located) {
    int maxMemberBytes = maxMemberBytes();
    BitSet members = located.members();
    BitSet unfit = new BitSet();
    BitSet stale = new BitSet();
    for (int member = members.nextSetBit(0); member >= 0; member = members.nextSetBit(member + 1)) {
      stale.set(member, located.failure(member) == FallbackReason.STALE_LOCATION);
      if (!fits(located, member, maxMemberBytes)) {
        unfit.set(member);
        located.leaveOut(member);
      }
    }
    group.leave(unfit);
    path.locator().forget(located, stale);
    List<GatheredChunk> chunks = new ArrayList<>();
    for (LocatedBlocks.Span span : path.spans(located, maxChunkBytes())) {
      chunks.add(new GatheredChunk(path, this, group, located, span));
    }
    return chunks;
  }

  private boolean fits(LocatedBlocks located, int member, int maxBytes) {
    return located.failure(member) == null
        && located.length(member) <= Math.min(maxBytes, path.maxGatheredBytes(located, member));
  }

  /** Starts what there is room for. One thread at a time, in a loop: a chunk may fail at once. */
  private void request() {
    synchronized (this) {
      if (requesting) {
        return;
      }
      requesting = true;
    }
    try {
      for (GatheredChunk next = nextRequest(); next != null; next = nextRequest()) {
        start(next);
      }
    } catch (
        Throwable e) { // Errors too: the waiting task tries again, and has it thrown at itself.
      synchronized (this) {
        requesting = false;
        left = true;
        notifyAll();
      }
      throw e;
    }
  }

  private void start(GatheredChunk chunk) {
    try {
      chunk.start();
    } catch (Throwable e) { // Errors too: the others are to be started all the same.
      failed(chunk, e);
    }
  }

  /** Should anything be thrown here the chunk still waits. */
  private synchronized GatheredChunk nextRequest() {
    GatheredChunk first = waiting.peek();
    // One is always on its way, whatever the task has not given back yet.
    boolean isBusy = !underWay.isEmpty() || !arrived.isEmpty();
    if (first == null || (bytes > 0 && isBusy && bytes + first.bytes() > limit.part())) {
      requesting = false;
      return null;
    }
    first.begin();
    underWay.add(first);
    bytes += first.bytes();
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
  boolean arrived(GatheredChunk read) {
    synchronized (this) {
      if (!ended(read)) {
        return false;
      }
      arrived.add(read);
      notifyAll();
    }
    request();
    return true;
  }

  /**
   * Called with the lock held.
   *
   * @return false where the step has ended before
   */
  private boolean ended(Step step) {
    boolean first = underWay.remove(step);
    if (first && step instanceof GatheredChunk chunk) {
      waiting.ended(chunk);
    }
    return first;
  }

  /** A step's answer, unless there was another one: its blocks are left to Spark. */
  void giveUp(Step step, FallbackReason reason) {
    synchronized (this) {
      if (!ended(step)) {
        return;
      }
      leave(step);
    }
    LOG.debug("{} is given up: {}", step, reason);
    request();
  }

  /** What has arrived is not what was written. */
  void wrong(GatheredChunk read) {
    synchronized (this) {
      leave(read);
    }
    request();
  }

  /** Called with the lock held. */
  private void leave(Step step) {
    step.leave();
    consumed(step.bytes());
    left = true;
    notifyAll();
  }

  /** A chunk was consumed. */
  void released(int chunkBytes) {
    synchronized (this) {
      consumed(chunkBytes);
    }
    request();
  }

  /** Called with the lock held. */
  private void consumed(int chunkBytes) {
    bytes -= chunkBytes;
    if (bytes == 0 && !isMoreToCome()) {
      leaveLimit();
    }
  }

  @Override
  public synchronized void answered(SparkBlocks blocks) {
    arrived.add(new Answered(blocks));
    notifyAll();
  }

  /** Verified on this thread, which waits for it anyway: no other has to run for that. */
  @Override
  public Arrival poll() {
    Arrival arrival = null;
    Arrived next = nextArrived();
    while (arrival == null && next != null) {
      arrival =
          switch (next) {
            case GatheredChunk read -> read.verify();
            case Answered answer -> answer.blocks();
          };
      next = arrival == null ? nextArrived() : null;
    }
    return arrival;
  }

  private synchronized Arrived nextArrived() {
    return arrived.poll();
  }

  @Override
  public boolean await() throws InterruptedException {
    request();
    awaitStep().forEach(step -> giveUp(step, FallbackReason.DEADLINE));
    synchronized (this) {
      return !arrived.isEmpty() || isMoreToCome();
    }
  }

  @Override
  public synchronized void awaitAnswer() throws InterruptedException {
    if (arrived.isEmpty()) {
      TimeUnit.MILLISECONDS.timedWait(this, path.options().readTimeoutMs());
    }
  }

  /**
   * Returns when something has arrived or is left, or no chunk will come, or steps are late: those.
   */
  private synchronized List<Step> awaitStep() throws InterruptedException {
    while (arrived.isEmpty() && !left && isMoreToCome()) {
      long now = path.timer().nanoTime();
      long nanosToWait = TimeUnit.MILLISECONDS.toNanos(path.options().readTimeoutMs());
      List<Step> late = new ArrayList<>();
      for (Step step : underWay) {
        long nanosLeft = step.deadlineNanos() - now;
        nanosToWait = Math.min(nanosToWait, nanosLeft);
        if (nanosLeft <= 0) {
          late.add(step);
        }
      }
      if (!late.isEmpty()) {
        return late;
      }
      TimeUnit.NANOSECONDS.timedWait(this, nanosToWait);
    }
    left = false;
    return List.of();
  }

  private boolean isMoreToCome() {
    return !underWay.isEmpty() || !waiting.isEmpty();
  }

  @Override
  public synchronized List<Chunk> close() {
    waiting.clear();
    underWay.clear();
    if (touching != null) {
      touching.cancel(false);
    }
    leaveLimit();
    List<Chunk> undelivered = new ArrayList<>();
    for (Arrived each : arrived) {
      if (each instanceof GatheredChunk read) {
        undelivered.add(read.chunk());
      }
    }
    arrived.clear();
    notifyAll();
    return undelivered;
  }
}
