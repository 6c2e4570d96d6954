package dev.sluice.blocks;

import dev.sluice.blocks.Leases.Lease;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies pieces of map outputs that are not registered into memory that is, for whoever asks: the
 * pieces of one request lie side by side, and stay until their reader is done or the lease has run
 * out ({@link Leases}).
 *
 * <p>Requests come on the transport's threads and never block them. A request waits for its peer's
 * share, a quarter of the memory, and then for memory; one whose time is over when it is its turn
 * is dropped before a disk is read in vain. Files are read on threads of the stager's own, so that
 * a slow disk holds up no event loop. Whoever creates it closes it, after the block server and
 * before the protection domain.
 */
public final class Stager implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Stager.class);

  /** What every stager has room for, four times, whatever its peers' memory is. */
  public static final int MAX_REQUEST_BYTES = 1 << 20;

  /** Of all memory, one peer's share. */
  private static final int SHARES = 4;

  /** Enough for the disks of an executor. */
  private static final int MAX_THREADS = 8;

  private static final long THREAD_IDLE_MS = 10_000;
  private static final long TICK_MS = 1_000;
  private static final long CLOSE_TIMEOUT_MS = 10_000;

  private final MapOutputRegistry registry;
  private final RegistryCounters counters;
  private final LongSupplier nanoClock;
  private final BufferPool memory;
  private final PeerQuota<Object> quota;
  private final Leases leases;
  private final OpenFiles files;
  private final ThreadPoolExecutor threads;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(threadFactory("sluice-stage-timer"));
  private boolean ticking;
  private int regions;

  /**
   * @param maxBytes registered bytes at most: four times {@link #MAX_REQUEST_BYTES} or more
   * @param cores of this process: there are not many more threads that copy, as its tasks want them
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
    quota = new PeerQuota<>(Long.MAX_VALUE, maxBytes / SHARES);
    leases = new Leases(nanoClock);
    files = new OpenFiles(nanoClock);
    threads =
        new ThreadPoolExecutor(
            Math.clamp(cores, 2, MAX_THREADS),
            Math.clamp(cores, 2, MAX_THREADS),
            THREAD_IDLE_MS,
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            threadFactory("sluice-stage"));
    threads.allowCoreThreadTimeOut(true);
  }

  private static ThreadFactory threadFactory(String name) {
    return Thread.ofPlatform().daemon().name(name).inheritInheritableThreadLocals(false).factory();
  }

  /** A request on its way through shares, memory and disks. */
  private final class Request {
    private final Object peer;
    private final List<RegisteredMapOutput> outputs;
    private final Stage stage;
    private final int bytes;
    private final long receivedNanos = nanoClock.getAsLong();
    private final BooleanSupplier isThere;
    private final Consumer<Object> answer;
    private PooledBuffer buffer;

    Request(
        Object peer,
        Stage stage,
        List<RegisteredMapOutput> outputs,
        int bytes,
        BooleanSupplier isThere,
        Consumer<Object> answer) {
      this.peer = peer;
      this.stage = stage;
      this.outputs = outputs;
      this.bytes = bytes;
      this.isThere = isThere;
      this.answer = answer;
    }

    void hasShare() {
      counters.add(RegistryCounter.STAGING_BYTES_IN_USE, bytes);
      if (isLate()) {
        refuse("it was late when it got its share");
      } else {
        memory.acquire(bytes, receivedNanos + Long.MAX_VALUE / 2, this::hasMemory);
      }
    }

    private void hasMemory(PooledBuffer acquired) {
      buffer = acquired;
      countRegions();
      if (acquired == null) {
        refuse("there is no memory to stage in");
        return;
      }
      try {
        threads.execute(this::copy);
      } catch (RejectedExecutionException | OutOfMemoryError e) {
        refuse("there is no thread to copy: " + e.getMessage());
      }
    }

    /** The reader needs some of its time for the READ, and none once it has left. */
    private boolean isLate() {
      long usableMs = stage.timeLeftMs() - stage.timeLeftMs() / 8;
      return !isThere.getAsBoolean()
          || nanoClock.getAsLong() - receivedNanos >= TimeUnit.MILLISECONDS.toNanos(usableMs);
    }

    private void copy() {
      String refusal = isLate() ? "it was late when its files were to be read" : null;
      long crc32c = Staged.NO_CHECKSUM;
      if (refusal == null) {
        try {
          read();
          crc32c = crc32c();
        } catch (IOException | RuntimeException | Error e) {
          LOG.debug("Shuffle {}: {} bytes were not staged", stage.shuffleId(), bytes, e);
          refusal = e.toString();
        } finally {
          tickSoon(); // which closes the files
        }
      }
      if (refusal == null && isLate()) {
        refusal = "it was late when its files had been read"; // Nobody waits for a lease.
      }
      if (refusal == null) {
        grant(crc32c);
      } else {
        refuse(refusal);
      }
    }

    private void read() throws IOException {
      long at = 0;
      for (int i = 0; i < outputs.size(); i++) {
        Piece piece = stage.pieces().get(i);
        MemorySegment target = buffer.segment().asSlice(at, piece.length());
        files.read(outputs.get(i), piece.position(), target.asByteBuffer());
        at += piece.length();
      }
    }

    private void grant(long crc32c) {
      Lease lease = leases.begin(peer, buffer);
      if (lease == null) {
        refuse("the server stops");
        return;
      }
      tickSoon();
      long tookNanos = lease.endNanos() - Leases.NANOS - receivedNanos;
      counters.add(RegistryCounter.STAGED_BYTES, bytes);
      answer.accept(new Staged(lease.id(), buffer.remote(), tookNanos, Leases.NANOS, crc32c));
    }

    /** Only where there is nothing else that the bytes can be compared with. */
    private long crc32c() {
      boolean verifiable =
          outputs.stream()
              .noneMatch(output -> output.location().checksumAlgorithm() == ChecksumAlgorithm.NONE);
      if (verifiable) {
        return Staged.NO_CHECKSUM;
      }
      CRC32C crc = new CRC32C();
      ByteBuffer all = buffer.segment().asByteBuffer();
      crc.update(all);
      return crc.getValue();
    }

    private void refuse(String reason) {
      free(peer, bytes, buffer);
      counters.add(RegistryCounter.STAGING_REFUSALS, 1);
      answer.accept(new NotStaged(false, reason));
    }
  }

  /**
   * Copies what is asked for. Never blocks.
   *
   * @param peer whose share of the memory it takes, and who may say that it is {@link #done}
   * @param isThere whether the peer is still connected: nothing is copied for one that is not
   * @param answer gets one {@link Staged} or {@link NotStaged}, on any thread
   */
  void stage(Object peer, BooleanSupplier isThere, Stage stage, Consumer<Object> answer) {
    List<RegisteredMapOutput> outputs = new ArrayList<>();
    long bytes = 0;
    boolean many = stage.pieces().size() > ControlMessages.MAX_PIECES;
    for (Piece piece : many ? List.<Piece>of() : stage.pieces()) {
      RegisteredMapOutput output = registry.output(stage.shuffleId(), piece.mapId());
      if (output == null || !output.contains(piece.position(), piece.length())) {
        answer.accept(new NotStaged(true, "map output " + piece.mapId() + " has no such bytes"));
        return;
      }
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
    Request request = new Request(peer, stage, outputs, (int) bytes, isThere, answer);
    quota.acquire(peer, bytes, request::hasShare);
  }

  /** The peer has READ what it has a lease of. */
  void done(Object peer, long leaseId) {
    Lease lease = leases.end(peer, leaseId);
    if (lease != null) {
      free(lease);
    }
  }

  private void free(Lease lease) {
    free(lease.peer(), lease.buffer().segment().byteSize(), lease.buffer());
  }

  /**
   * @param buffer null where there was none
   */
  private void free(Object peer, long bytes, PooledBuffer buffer) {
    if (buffer != null) {
      buffer.release();
    }
    counters.add(RegistryCounter.STAGING_BYTES_IN_USE, -bytes);
    quota.release(peer, bytes);
  }

  private synchronized void countRegions() {
    int now = (int) (memory.registeredBytes() / memory.maxBufferBytes());
    counters.add(RegistryCounter.STAGING_REGIONS, now - regions);
    regions = now;
  }

  /** As long as there is something that time ends. */
  private synchronized void tickSoon() {
    if (!ticking && !timer.isShutdown()) {
      timer.schedule(this::tick, TICK_MS, TimeUnit.MILLISECONDS);
      ticking = true;
    }
  }

  private void tick() {
    try {
      List<Lease> expired = leases.expire();
      counters.add(RegistryCounter.LEASES_EXPIRED, expired.size());
      expired.forEach(this::free);
      files.expire();
    } catch (RuntimeException | Error e) {
      LOG.error("Leases could not be ended", e); // A defect, of which the timer must not die.
    }
    synchronized (this) {
      ticking = false;
    }
    if (!leases.isEmpty() || !files.isEmpty()) {
      tickSoon();
    }
  }

  /** Ends all leases: no peer READs any more. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      timer.shutdownNow();
    }
    threads.shutdown();
    try {
      if (!threads.awaitTermination(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
        LOG.warn("Files are still being read {} ms after closing", CLOSE_TIMEOUT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    leases.close().forEach(this::free);
    memory.close();
    files.close();
  }
}
