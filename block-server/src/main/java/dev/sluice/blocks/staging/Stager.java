// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.staging.Leases.Lease;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies blocks of map outputs that are not registered into registered memory, from which the peer
 * READs them. The blocks of one request lie side by side. They stay until the reader is done or the
 * lease has expired ({@link Leases}).
 *
 * <p>Requests come on the transport's threads, which never block. If the partition tables of some
 * blocks are not in memory, their files are read in a first step, which takes no staging memory.
 * Then the request waits for admission ({@link StageQueue}) and for memory. The stager's own
 * threads register memory and read files. A request begins hot: it reads only bytes in the page
 * cache and waits for no disk. If bytes are missing there, the request gives back its memory at
 * once and queues again as a cold one, which waits for disks. A hot request also opens files, reads
 * tables, and reads from file systems that do not tell which bytes are cached ({@link
 * dev.sluice.rdma.file.FileFd}).
 *
 * <p>Each request is answered within the time that its reader has, however long a disk takes. Once
 * a disk has not answered in time, requests are answered without its blocks until it answers.
 * Requests of a peer that would take more than 256 KiB of heap wait at that peer ({@link
 * dev.sluice.blocks.client.BlockServerClient#stage}). An executor has one stager, a node daemon one
 * for each application. The creator closes it, after the block server and before the protection
 * domain. An admitted request gives back its buffer exactly once: in {@link #refuse}, {@link
 * #done}, {@link #turnCold}, {@link #close}, or when its lease expires. {@link #drop} gives back
 * none: a running step does.
 */
public final class Stager implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Stager.class);

  /** Largest request. Every stager has memory for four of them, as peers may assume. */
  public static final int MAX_REQUEST_BYTES = 1 << 20;

  /** One peer's share is this fraction of all memory. */
  private static final int SHARES = 4;

  /** Threads that keep a directory's disks busy. */
  private static final int MAX_THREADS = 8;

  /** Interval of {@link #tick}, and so the delay with which an expired lease may end. */
  private static final long TICK_MS = 1_000;

  private static final long CLOSE_TIMEOUT_MS = 10_000;

  /**
   * Time after the reader's deadline at which a disk that has not given one block counts as
   * hanging. A disk that is merely slow has given it by then.
   */
  private static final long HANGS_NANOS = 5_000_000_000L;

  /** Region of an answer without a copy. */
  private static final RemoteRegion NOTHING = new RemoteRegion(0, 0, 0);

  private static final NotStaged LATE = new NotStaged(false, "the request has no time left");
  private static final NotStaged STOPS = new NotStaged(false, "the block server is stopping");

  private final MapOutputRegistry registry;
  private final Counters<RegistryCounter> counters;
  private final LongSupplier nanoClock;
  private final BufferPool memory;
  private final StageLanes lanes;
  private final StageQueue queue;
  private final Leases leases;
  private final ThreadPoolExecutor threads;
  private final Future<?> ticks;

  /** Requests without an answer yet. */
  private final Set<StageRequest> unanswered = ConcurrentHashMap.newKeySet();

  /** Read of a lane's files that is under way. */
  private record Reading(StageRequest request, int lane) {}

  private final Set<Reading> underWay = ConcurrentHashMap.newKeySet();

  /** Lanes whose disks did not answer at the last {@link #tick}; not changed later. */
  private volatile BitSet hanging = new BitSet();

  /** Regions that are counted already; guarded by this. */
  private int regions;

  private volatile boolean closed;

  /**
   * @param maxBytes limit of registered bytes: four times {@link #MAX_REQUEST_BYTES} or more
   * @param cores cores of this process, which limit the threads that copy from one directory
   * @param timer the process's timer
   */
  public Stager(
      ProtectionDomain domain,
      MapOutputRegistry registry,
      long maxBytes,
      int cores,
      LongSupplier nanoClock,
      ScheduledExecutorService timer) {
    this.registry = registry;
    this.counters = registry.counters();
    this.nanoClock = nanoClock;
    memory = BufferPool.readable(domain, maxBytes);
    lanes =
        new StageLanes(maxBytes, Math.clamp(cores, 2, MAX_THREADS), registry.directories().count());
    queue = new StageQueue(maxBytes / SHARES, lanes.maxReaders(), this::begin);
    leases = new Leases(nanoClock);
    int most = lanes.threads() + 1; // One thread is for acquiring memory.
    threads = DaemonThreads.atMost(most, "sluice-stage");
    ticks =
        timer.scheduleWithFixedDelay(
            () -> guarded(this::tick), TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
  }

  /**
   * Copies the blocks that fit. Never blocks.
   *
   * @param peer the peer whose share of the memory is used, and which may report {@link #done}
   * @param isThere returns true while the peer is connected; nothing is copied once it is not
   * @param answer gets one {@link Staged} or {@link NotStaged}, on any thread
   */
  public void stage(Object peer, BooleanSupplier isThere, Stage stage, Consumer<Object> answer) {
    if (!stage.isAllowed()) {
      String reason =
          "no request may be for %d partitions of %d blocks, %d bytes from byte %d on"
              .formatted(
                  stage.partitions(), stage.wanted().size(), stage.maxBytes(), stage.position());
      answer.accept(new NotStaged(false, reason));
      return;
    }
    registry.touch(stage.shuffleId());
    StagedBlocks wanted = new StagedBlocks(stage, registry, lanes, hanging);
    start(new StageRequest(peer, isThere, wanted, nanoClock.getAsLong(), answer));
  }

  private void start(StageRequest request) {
    unanswered.add(request);
    int[] ofTables = request.blocks().tableLanes();
    if (closed) {
      answer(request, STOPS);
    } else if (ofTables.length > 0) {
      request.step(0, ofTables, nanoClock.getAsLong());
      queue(request);
    } else {
      choose(request);
    }
  }

  /** Chooses the blocks to copy, and queues the request unless there are none. */
  private void choose(StageRequest request) {
    StagedBlocks blocks = request.blocks();
    int bytes = blocks.choose(Math.min(MAX_REQUEST_BYTES, memory.maxBufferBytes()));
    if (bytes > 0) {
      request.step(bytes, blocks.dataLanes(false), nanoClock.getAsLong());
      queue(request);
    } else {
      answer(request, new Staged(0, NOTHING, 0, Leases.NANOS, Staged.NO_CHECKSUM, blocks.tables()));
    }
  }

  private void queue(StageRequest request) {
    if (!queue.add(request)) {
      countWait(request);
    }
  }

  private void countWait(StageRequest request) {
    if (request.waits()) {
      counters.add(RegistryCounter.STAGING_WAITS, 1);
    }
  }

  /** Begins an admitted request. */
  private void begin(StageRequest request) {
    counters.add(RegistryCounter.STAGING_BYTES_IN_USE, request.bytes());
    if (request.bytes() > 0) {
      execute(() -> acquire(request), _ -> acquire(request));
    } else {
      read(request);
    }
  }

  private void acquire(StageRequest request) {
    boolean atOnce =
        memory.acquire(
            request.bytes(), request.deadlineNanos(), buffer -> hasMemory(request, buffer));
    if (!atOnce) {
      countWait(request);
    }
  }

  /**
   * @param buffer null if there was none in time
   */
  private void hasMemory(StageRequest request, @Nullable PooledBuffer buffer) {
    countRegions();
    long waitedNanos = nanoClock.getAsLong() - request.queuedNanos();
    counters.add(RegistryCounter.STAGING_WAIT_MICROS, TimeUnit.NANOSECONDS.toMicros(waitedNanos));
    if (buffer == null) {
      queue.wasRead(request.lanes());
      refuse(request, new NotStaged(false, "no staging memory was available in time"));
      return;
    }
    request.has(buffer);
    read(request);
  }

  private void read(StageRequest request) {
    for (int lane : request.lanes()) {
      execute(
          () -> read(request, lane),
          e -> {
            request.failed(e);
            wasRead(request, lane);
          });
    }
  }

  /** Runs a step on a thread that may block. */
  private void execute(Runnable step, Consumer<Throwable> whereThereIsNone) {
    try {
      threads.execute(step);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      whereThereIsNone.accept(e);
    }
  }

  private void read(StageRequest request, int lane) {
    Reading reading = new Reading(request, lane);
    underWay.add(reading);
    request.read(lane, nanoClock);
    underWay.remove(reading);
    wasRead(request, lane);
  }

  private void wasRead(StageRequest request, int lane) {
    queue.wasRead(lane);
    if (request.wasRead()) {
      NotStaged refusal = refusal(request);
      if (refusal != null) {
        refuse(request, refusal);
      } else if (request.bytes() == 0) {
        queue.end(request);
        if (!request.isAnswered()) {
          choose(request);
        }
      } else if (request.isUncached()) {
        turnCold(request);
      } else {
        grant(request);
      }
    }
  }

  /** Queues the request again, among those that wait for disks. */
  private void turnCold(StageRequest request) {
    counters.add(RegistryCounter.STAGING_BYTES_IN_USE, -request.bytes());
    requireNonNull(request.buffer()).release();
    queue.end(request);
    request.turnCold(nanoClock.getAsLong());
    queue(request);
  }

  /** Reason to refuse the request; null if nothing has failed and the reader still waits. */
  private @Nullable NotStaged refusal(StageRequest request) {
    if (!request.blocks().isCurrent()) {
      return new NotStaged(true, "the map outputs were unregistered or replaced");
    }
    if (request.failure() != null) {
      LOG.debug("{} were not staged", request, request.failure());
      return new NotStaged(false, request.failure().toString());
    }
    return request.isLate(nanoClock.getAsLong()) ? LATE : null;
  }

  private void grant(StageRequest request) {
    PooledBuffer copy = requireNonNull(request.buffer());
    long crc32c = request.blocks().crc32c(copy.segment());
    Lease lease = leases.begin(request);
    if (lease == null) {
      refuse(request, STOPS);
      return;
    }
    counters.add(RegistryCounter.STAGED_BYTES, request.bytes());
    long tookNanos = lease.endNanos() - Leases.NANOS - request.receivedNanos();
    Staged staged =
        new Staged(
            lease.id(), copy.remote(), tookNanos, Leases.NANOS, crc32c, request.blocks().tables());
    if (!answer(request, staged)) {
      done(request.peer(), lease.id());
    }
  }

  private void refuse(StageRequest request, NotStaged refusal) {
    free(request);
    answer(request, refusal);
  }

  /** Answers unless there is an answer already, else returns false. Failing to send counts too. */
  private boolean answer(StageRequest request, Object message) {
    boolean first = true;
    try {
      first = request.answer(message);
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Answering a stage request failed", e);
    }
    unanswered.remove(request);
    if (first && (message instanceof NotStaged || request.blocks().isAnyUnreadable())) {
      counters.add(RegistryCounter.STAGING_REFUSALS, 1);
    }
    return first;
  }

  /** Ends a lease, once the peer has READ the bytes. Never blocks. */
  public void done(Object peer, long leaseId) {
    StageRequest request = leases.end(peer, leaseId);
    if (request != null) {
      free(request);
    }
  }

  /** Releases on another thread: the caller would wait while memory is being registered. */
  private void free(StageRequest request) {
    counters.add(RegistryCounter.STAGING_BYTES_IN_USE, -request.bytes());
    Runnable release =
        () -> {
          if (request.buffer() != null) {
            request.buffer().release();
          }
          queue.end(request);
        };
    execute(release, _ -> release.run());
  }

  private synchronized void countRegions() {
    int now = (int) (memory.registeredBytes() / memory.maxBufferBytes());
    counters.add(RegistryCounter.STAGING_REGIONS, now - regions);
    regions = now;
  }

  /** Ends leases and requests whose time is over. */
  private void tick() {
    guarded(this::expireLeases);
    long nowNanos = nanoClock.getAsLong();
    BitSet before = hanging;
    hanging = hanging(nowNanos);
    if (hanging.cardinality() > before.cardinality()) {
      LOG.warn(
          "A local disk does not answer reads for staging. Its blocks fall back until it does");
    }
    unanswered.forEach(request -> guarded(() -> dropVain(request, nowNanos)));
    memory.expire(nowNanos);
  }

  private void expireLeases() {
    List<StageRequest> expired = leases.expire();
    counters.add(RegistryCounter.LEASES_EXPIRED, expired.size());
    expired.forEach(request -> guarded(() -> free(request)));
  }

  private void dropVain(StageRequest request, long nowNanos) {
    if (request.isLate(nowNanos)) {
      drop(request, LATE);
    } else if (IntStream.of(request.lanes()).anyMatch(hanging::get)) {
      replace(request);
    }
  }

  /**
   * Stages the other blocks of a request that waits for a disk that hangs. A step that is under way
   * gives back its memory when it ends.
   */
  private void replace(StageRequest request) {
    BitSet avoided = (BitSet) hanging.clone();
    lanes.addHotOf(avoided);
    StageRequest others = request.replaced(request.blocks().without(avoided));
    if (others != null) {
      unanswered.remove(request);
      try {
        queue.end(request);
      } finally {
        start(others);
      }
    }
  }

  /** Keeps a defect in one step from stopping the other steps and the timer. */
  private static void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Ending a lease or a stage request failed", e);
    }
  }

  /** Lanes with a thread that still reads long after its reader's deadline. */
  private BitSet hanging(long nowNanos) {
    return underWay.stream()
        .filter(reading -> nowNanos - reading.request().deadlineNanos() >= HANGS_NANOS)
        .mapToInt(Reading::lane)
        .collect(BitSet::new, BitSet::set, BitSet::or);
  }

  /**
   * Answers the request and takes it out of its share; it gets no lease. A step that is under way
   * gives back its memory when it ends.
   */
  private void drop(StageRequest request, NotStaged refusal) {
    if (answer(request, refusal)) {
      queue.end(request);
    }
  }

  /** Ends all leases: no peer READs any more. Idempotent. */
  @Override
  public void close() {
    ticks.cancel(false);
    closed = true;
    unanswered.forEach(request -> guarded(() -> drop(request, STOPS)));
    if (!DaemonThreads.stop(threads, CLOSE_TIMEOUT_MS)) {
      LOG.warn("Files are still being read; the stager closes without waiting for that any longer");
    }
    leases.close().forEach(request -> guarded(() -> free(request)));
    memory.close();
  }
}
