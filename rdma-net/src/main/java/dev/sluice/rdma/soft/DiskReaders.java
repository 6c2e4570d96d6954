// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.soft.FrameBatch.FrameBuffers;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads bytes of registered files that the page cache lacks, so that no event loop waits for a
 * disk. Each disk has its own threads: a disk that hangs blocks only these, and files on other
 * disks are still read. It also tells which disks hang, as answers of a queue pair wait for one
 * another. A queue pair has one read at a time here, and one buffer of {@link FrameBuffers#BYTES}
 * for it. The {@link SoftDevice} creates and closes it; event loops submit reads.
 */
final class DiskReaders implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DiskReaders.class);

  /** Limits of the threads of a disk, which otherwise has one for each processor. */
  private static final int MIN_THREADS = 2;

  private static final int MAX_THREADS = 8;

  /**
   * Total of threads beyond which a new disk gets {@link #MIN_THREADS}: a node may have dozens of
   * disks.
   */
  private static final int MANY_THREADS = 16;

  /** Time limit for all disks together. Reads that end later still give back their buffers. */
  private static final long CLOSE_TIMEOUT_MS = 1_000;

  /** Takes the result of a read, on the disk's thread, or on the caller's if it did not start. */
  interface Listener {
    /**
     * @param bytes ready to be sent; null if the read failed
     * @param failure null if the read succeeded
     */
    void read(@Nullable ByteBuffer bytes, @Nullable Throwable failure);
  }

  private final int threadsPerDisk;
  private final int maxReadMs;
  private final LongSupplier nanoClock;

  // Guarded by this.
  private final Map<Long, Disk> disks = new HashMap<>();
  private int threads;
  private boolean closed;

  /**
   * @param maxReadMs a disk counts as hanging once a read takes longer. A read that waits for a
   *     thread does not count: a disk with many readers is slow, but answers.
   */
  DiskReaders(int maxReadMs) {
    this(Runtime.getRuntime().availableProcessors(), maxReadMs, System::nanoTime);
  }

  /**
   * @param nanoClock {@link System#nanoTime}, or the clock of a test
   */
  DiskReaders(int processors, int maxReadMs, LongSupplier nanoClock) {
    threadsPerDisk = Math.clamp(processors, MIN_THREADS, MAX_THREADS);
    this.maxReadMs = maxReadMs;
    this.nanoClock = nanoClock;
  }

  /**
   * Reads bytes of a file, and keeps it open meanwhile. Never waits.
   *
   * @param bytes number of bytes, of which at most the size of a buffer is read
   */
  void read(SoftFileRegion region, long from, int bytes, FrameBuffers buffers, Listener listener) {
    try {
      region.use();
    } catch (IOException e) {
      listener.read(null, e);
      return;
    }
    try {
      Disk disk = disk(region.disk());
      disk.threads.execute(() -> readNow(disk, region, from, bytes, buffers, listener));
    } catch (RuntimeException | Error e) { // the system has no thread, or the device is closed
      region.unuse();
      listener.read(null, e);
    }
  }

  /**
   * Returns the time that the disk has left for its oldest read.
   *
   * @return nanoseconds; 0 or less if the disk hangs
   */
  long nanosLeft(long number) {
    Disk disk;
    synchronized (this) {
      disk = disks.get(number);
    }
    return disk == null ? TimeUnit.MILLISECONDS.toNanos(maxReadMs) : disk.nanosLeft();
  }

  /** Returns the threads of a disk, and creates them first if necessary. */
  ThreadPoolExecutor pool(long number) {
    return disk(number).threads;
  }

  private synchronized Disk disk(long number) {
    if (closed) {
      throw new RejectedExecutionException("the device is closed");
    }
    return disks.computeIfAbsent(number, _ -> new Disk(number, newPool(), maxReadMs, nanoClock));
  }

  private ThreadPoolExecutor newPool() {
    int most = threads + threadsPerDisk <= MANY_THREADS ? threadsPerDisk : MIN_THREADS;
    threads += most;
    return DaemonThreads.atMost(most, "sluice-soft-disk");
  }

  private static void readNow(
      Disk disk,
      SoftFileRegion region,
      long from,
      int bytes,
      FrameBuffers buffers,
      Listener listener) {
    ByteBuffer read = null;
    Throwable failure = null;
    Disk.Read begun = null;
    try {
      begun = disk.begin();
      read = buffers.take();
      region.read(from, read.limit(Math.min(bytes, read.capacity())));
      read.flip();
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    } finally {
      region.unuse();
      disk.end(begun); // before the listener asks for more
    }
    if (failure != null && read != null) {
      buffers.giveBack(read);
      read = null;
    }
    try {
      listener.read(read, failure);
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Sending bytes of {} failed", region, e);
    }
  }

  /** The threads of a disk, and the reads that these are waiting for. Any thread. */
  private static final class Disk {
    /** A read that is running on a thread. */
    private static final class Read {
      final long startNanos;

      Read(long startNanos) {
        this.startNanos = startNanos;
      }
    }

    final ThreadPoolExecutor threads;
    private final long number;
    private final int maxReadMs;
    private final LongSupplier nanoClock;

    // Guarded by this.
    private final Deque<Read> reads = new ArrayDeque<>(); // the oldest first
    private boolean silent;

    Disk(long number, ThreadPoolExecutor threads, int maxReadMs, LongSupplier nanoClock) {
      this.number = number;
      this.threads = threads;
      this.maxReadMs = maxReadMs;
      this.nanoClock = nanoClock;
    }

    synchronized Read begin() {
      Read read = new Read(nanoClock.getAsLong());
      reads.add(read);
      return read;
    }

    synchronized void end(@Nullable Read read) {
      reads.remove(read);
      if (silent && nanosLeft() > 0) {
        silent = false;
        LOG.info("File system {} answers again", this);
      }
    }

    synchronized long nanosLeft() {
      long max = TimeUnit.MILLISECONDS.toNanos(maxReadMs);
      if (reads.isEmpty()) {
        return max;
      }
      long left = max - (nanoClock.getAsLong() - reads.element().startNanos);
      if (left <= 0 && !silent) {
        silent = true;
        LOG.warn(
            "File system {} (findmnt -o MAJ:MIN,TARGET) has not answered a read for {} ms. Until it"
                + " answers, READs of its registered files are refused where the page cache lacks"
                + " them",
            this,
            maxReadMs);
      }
      return left;
    }

    /** The number in the notation of the kernel's tools. */
    @Override
    public String toString() {
      long major = number >> 8 & 0xfff | number >> 32 & ~0xfffL;
      long minor = number & 0xff | number >> 12 & ~0xffL;
      return number < 0 ? "unknown" : major + ":" + minor;
    }
  }

  @Override
  public void close() {
    List<ThreadPoolExecutor> pools;
    synchronized (this) {
      closed = true;
      pools = disks.values().stream().map(disk -> disk.threads).toList();
    }
    pools.forEach(ThreadPoolExecutor::shutdown);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_TIMEOUT_MS);
    for (ThreadPoolExecutor pool : pools) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (!DaemonThreads.stop(pool, Math.max(0, left))) {
        LOG.warn(
            "A disk did not answer before the device closed: {} files are still being read",
            pool.getActiveCount());
      }
    }
  }
}
