package dev.sluice.blocks.server;

import dev.sluice.blocks.MapOutput;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistryCounter;
import dev.sluice.blocks.RegistryCounters;
import dev.sluice.blocks.server.Leases.Lease;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies pieces of map outputs that are not registered into memory that is, for whoever asks: the
 * pieces of one request lie side by side, and stay until their reader is done or the lease has run
 * out ({@link Leases}).
 *
 * <p>Requests come on the transport's threads and never block them: a request waits for its turn
 * ({@link StageQueue}) and then for memory, which is registered, and files are read, on threads of
 * the stager's own. What the page cache has waits for no disk: a request that is for more gives
 * back what it has as soon as that is seen, and waits for another turn, in which it waits for disks
 * as well. Opening a file counts as what the page cache has, as does reading where nobody can tell
 * ({@link dev.sluice.rdma.verbs.ffi.FileFd}). What would take more than 256 KiB of heap for one
 * process waits at that one ({@link dev.sluice.blocks.client.BlockServerClient#stage}). Each has
 * its answer within the time that its reader has for it, however long a disk takes; once a disk has
 * kept a reader in vain, nobody waits for it until it answers. Whoever creates it closes it, after
 * the block server and before the protection domain.
 */
public final class Stager implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Stager.class);

  /** What every stager has room for, four times, whatever its peers' memory is. */
  public static final int MAX_REQUEST_BYTES = 1 << 20;

  /** Of all memory, one peer's share. */
  private static final int SHARES = 4;

  /** Enough for a directory's disks. */
  private static final int MAX_THREADS = 8;

  private static final long TICK_MS = 1_000;
  private static final long CLOSE_TIMEOUT_MS = 10_000;

  /**
   * A disk that has not given one piece so long after its reader ceased to wait hangs. One that is
   * merely slow has given it by then.
   */
  private static final long HANGS_NANOS = 5_000_000_000L;

  private static final NotStaged LATE = new NotStaged(false, "there is no time left for it");
  static final NotStaged HANGS = new NotStaged(false, "a disk does not answer");
  private static final NotStaged STOPS = new NotStaged(false, "the server stops");

  private final MapOutputRegistry registry;
  private final RegistryCounters counters;
  private final LongSupplier nanoClock;
  private final BufferPool memory;
  private final StageLanes lanes;
  private final StageQueue queue;
  private final Leases leases;
  private final ThreadPoolExecutor threads;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("sluice-stage-timer"));

  /** Those that have no answer yet. */
  private final Set<StageRequest> unanswered = ConcurrentHashMap.newKeySet();

  /** A lane's pieces are being read. */
  private record Reading(StageRequest request, int lane) {}

  private final Set<Reading> underWay = ConcurrentHashMap.newKeySet();

  private int regions;
  private volatile boolean closed;

  /**
   * @param maxBytes registered bytes at most: four times {@link #MAX_REQUEST_BYTES} or more
   * @param cores of this process: there are not many more threads that copy from a directory, as
   *     its tasks want them
   */
  public Stager(
      ProtectionDomain domain,
      MapOutputRegistry registry,
      long maxBytes,
      int cores,
      LongSupplier nanoClock) {
    this.registry = registry;
    this.counters = registry.counters();
    this.nanoClock = nanoClock;
    memory = BufferPool.readable(domain, maxBytes);
    lanes =
        new StageLanes(maxBytes, Math.clamp(cores, 2, MAX_THREADS), registry.directories().count());
    queue = new StageQueue(maxBytes / SHARES, lanes.maxReaders(), this::begin);
    leases = new Leases(nanoClock);
    int most = lanes.threads() + 1; // One is left for memory.
    threads = DaemonThreads.atMost(most, "sluice-stage");
    timer.scheduleWithFixedDelay(this::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
  }

  /**
   * Copies what is asked for. Never blocks.
   *
   * @param peer whose share of the memory it takes, and who may say that it is {@link #done}
   * @param isThere whether the peer is still connected: nothing is copied for one that is not
   * @param answer gets one {@link Staged} or {@link NotStaged}, on any thread
   */
  void stage(Object peer, BooleanSupplier isThere, Stage stage, Consumer<Object> answer) {
    List<MapOutput> outputs = new ArrayList<>();
    int[] laneOfPiece = new int[stage.pieces().size()];
    long bytes = 0;
    boolean many = stage.pieces().size() > ControlMessages.MAX_PIECES;
    for (Piece piece : many ? List.<Piece>of() : stage.pieces()) {
      MapOutput output = registry.output(stage.shuffleId(), piece.mapId());
      if (output == null || !output.contains(piece.position(), piece.length())) {
        answer.accept(new NotStaged(true, "map output " + piece.mapId() + " has no such bytes"));
        return;
      }
      laneOfPiece[outputs.size()] = output.disks().data();
      outputs.add(output);
      bytes += piece.length();
    }
    int maxBytes = Math.min(MAX_REQUEST_BYTES, memory.maxBufferBytes());
    if (bytes == 0 || bytes > maxBytes) {
      String reason =
          "%d bytes in %d pieces, 1 to %d in %d are staged at a time"
              .formatted(bytes, stage.pieces().size(), maxBytes, ControlMessages.MAX_PIECES);
      answer.accept(new NotStaged(false, reason));
      return;
    }
    registry.touch(stage.shuffleId());
    add(
        new StageRequest(
            peer, isThere, stage, outputs, laneOfPiece, nanoClock.getAsLong(), answer));
  }

  private void add(StageRequest request) {
    unanswered.add(request);
    if (closed) {
      answer(request, STOPS);
    } else {
      queue(request);
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

  /** Its turn has come. */
  private void begin(StageRequest request) {
    counters.add(RegistryCounter.STAGING_BYTES_IN_USE, request.bytes());
    execute(() -> acquire(request), _ -> acquire(request));
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
   * @param buffer null where there was none in time
   */
  private void hasMemory(StageRequest request, PooledBuffer buffer) {
    countRegions();
    long waitedNanos = nanoClock.getAsLong() - request.queuedNanos();
    counters.add(RegistryCounter.STAGING_WAIT_MICROS, TimeUnit.NANOSECONDS.toMicros(waitedNanos));
    if (buffer == null) {
      queue.wasRead(request.lanes());
      refuse(request, new NotStaged(false, "there is no memory to stage in"));
      return;
    }
    request.has(buffer);
    for (int lane : request.lanes()) {
      execute(
          () -> read(request, lane),
          e -> {
            request.failed(e);
            wasRead(request, lane);
          });
    }
  }

  /** On a thread that may block. */
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
    request.read(registry, lane, nanoClock);
    underWay.remove(reading);
    wasRead(request, lane);
  }

  private void wasRead(StageRequest request, int lane) {
    queue.wasRead(lane);
    if (request.wasRead()) {
      NotStaged refusal = refusal(request);
      if (refusal != null) {
        refuse(request, refusal);
      } else if (request.isUncached()) {
        turnCold(request);
      } else {
        grant(request);
      }
    }
  }

  /** It has another turn for that, among those who wait for disks. */
  private void turnCold(StageRequest request) {
    counters.add(RegistryCounter.STAGING_BYTES_IN_USE, -request.bytes());
    request.buffer().release();
    queue.end(request);
    request.turnCold(lanes, nanoClock.getAsLong());
    queue(request);
  }

  /** Null where nothing has failed, and there is still somebody who waits for it. */
  private NotStaged refusal(StageRequest request) {
    if (!request.isCurrent(registry)) {
      return new NotStaged(true, "its map outputs were unregistered or replaced");
    }
    if (request.failure() != null) {
      LOG.debug("{} were not staged", request, request.failure());
      return new NotStaged(false, request.failure().toString());
    }
    return request.isLate(nanoClock.getAsLong()) ? LATE : null;
  }

  private void grant(StageRequest request) {
    long crc32c = request.crc32c();
    Lease lease = leases.begin(request);
    if (lease == null) {
      refuse(request, STOPS);
      return;
    }
    counters.add(RegistryCounter.STAGED_BYTES, request.bytes());
    long tookNanos = lease.endNanos() - Leases.NANOS - request.receivedNanos();
    RemoteRegion region = request.buffer().remote();
    if (!answer(request, new Staged(lease.id(), region, tookNanos, Leases.NANOS, crc32c))) {
      done(request.peer(), lease.id());
    }
  }

  private void refuse(StageRequest request, NotStaged refusal) {
    free(request);
    answer(request, refusal);
  }

  /** False where it has its answer. */
  private boolean answer(StageRequest request, Object message) {
    boolean first = request.answer(message);
    unanswered.remove(request);
    if (first && message instanceof NotStaged) {
      counters.add(RegistryCounter.STAGING_REFUSALS, 1);
    }
    return first;
  }

  /** The peer has READ what it has a lease of. Never blocks. */
  void done(Object peer, long leaseId) {
    StageRequest request = leases.end(peer, leaseId);
    if (request != null) {
      free(request);
    }
  }

  /** Not on the caller's thread, which would wait while memory is being registered. */
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

  /** Ends what time ends. */
  private void tick() {
    try {
      List<StageRequest> expired = leases.expire();
      counters.add(RegistryCounter.LEASES_EXPIRED, expired.size());
      expired.forEach(this::free);
      long nowNanos = nanoClock.getAsLong();
      BitSet hanging = hanging(nowNanos);
      for (StageRequest request : unanswered) {
        if (request.isLate(nowNanos)) {
          drop(request, LATE);
        } else if (IntStream.of(request.lanes()).anyMatch(hanging::get)) {
          drop(request, HANGS);
        }
      }
      memory.expire(nowNanos);
    } catch (RuntimeException | Error e) {
      LOG.error("Leases could not be ended", e); // A defect, of which the timer must not die.
    }
  }

  /** Lanes that keep a thread which nobody waits for any more. */
  private BitSet hanging(long nowNanos) {
    return underWay.stream()
        .filter(reading -> nowNanos - reading.request().deadlineNanos() >= HANGS_NANOS)
        .mapToInt(Reading::lane)
        .collect(BitSet::new, BitSet::set, BitSet::or);
  }

  /**
   * Answers the request, which will have no lease and is of no share then; a step that is under way
   * gives back what it has when it ends.
   */
  private void drop(StageRequest request, NotStaged refusal) {
    if (answer(request, refusal)) {
      queue.end(request);
    }
  }

  /** Ends all leases: no peer READs any more. Idempotent. */
  @Override
  public void close() {
    timer.shutdownNow();
    closed = true;
    unanswered.forEach(request -> drop(request, STOPS));
    if (!DaemonThreads.stop(threads, CLOSE_TIMEOUT_MS)) {
      LOG.warn("Files are still being read when nobody waits for that any more");
    }
    leases.close().forEach(this::free);
    memory.close();
  }
}
