// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.rdma.transfer.LatencyWindows;
import dev.sluice.spark.fetch.ReadThreads.DeadlineTimer;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.table.TableReads;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which batches of an executor are late, so that Spark's transfer fetches them instead of
 * waiting for their READs. A READ is late after {@value #TIMES_MEDIAN} times the median of the last
 * minute or two, and after 50 ms at least. Waiting tasks leave late batches to Spark ({@link
 * Read#overtake}). The READ goes on, and the first bytes of a block are its answer. The extra bytes
 * are at most 2 % of the READ bytes. A peer that is late again and again would need more, and is
 * avoided ({@link LatePeers}).
 *
 * <p>{@link FetchContext} has one per executor. {@link TaskBatchRead}s, {@link ProbeRead}s and
 * {@link GroupFetch}es report on any thread. The lock is the innermost one, and guards arithmetic
 * only. Nothing to close.
 */
final class LateReads {
  private static final Logger LOG = LoggerFactory.getLogger(LateReads.class);

  /** A waiting task looks for late READs this often. */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Number of READs without which nothing is late. */
  static final int MIN_READS = 100;

  static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** READ bytes that allow for an extra byte. */
  static final int READ_PER_EXTRA = 50;

  /** Limit of the extra bytes that earlier READs allow for. */
  static final long MAX_SAVED_BYTES = 16 << 20;

  private static final int TIMES_MEDIAN = 8;
  private static final long MIN_LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Number of READs after which the threshold is computed anew. */
  private static final int UPDATE_READS = MIN_READS / 2;

  private final boolean on;
  private final long maxHeldBytes;
  private final DeadlineTimer timer;
  private final ShuffleCounters counters;
  private final Runnable slowPeer;

  // Guarded by this.
  private final LatencyHistogram times = new LatencyHistogram();
  private final LatencyWindows windows = new LatencyWindows(times);
  private long windowNanos;

  /** READs since the threshold was computed. */
  private int fresh;

  private long lateAfterNanos = Long.MAX_VALUE;

  private long medianNanos;

  /** Time at which the threshold was computed. */
  private long updatedNanos;

  /** End of the last pause of this process. READs that were under way are late on later account. */
  private long pausedNanos;

  /** READ bytes that no extra bytes have used. */
  private long unusedBytes;

  /** Bytes of the buffers of READs that were overtaken. */
  private long heldBytes;

  private final LatePeers peers = new LatePeers();

  /**
   * @param on false if no READ is ever late
   * @param poolBytes limit of the buffer pool
   * @param slowPeer called when a line of the log names a slow peer
   */
  LateReads(
      boolean on,
      long poolBytes,
      DeadlineTimer timer,
      ShuffleCounters counters,
      Runnable slowPeer) {
    this.on = on;
    this.maxHeldBytes = poolBytes / 8;
    this.timer = timer;
    this.counters = counters;
    this.slowPeer = slowPeer;
    this.windowNanos = timer.nanoTime();
    this.updatedNanos = windowNanos;
    this.pausedNanos = windowNanos;
  }

  /** Returns how long a task may wait before it looks for late READs. */
  long pauseNanos() {
    return on ? PAUSE_NANOS : Long.MAX_VALUE;
  }

  /**
   * Notes a wait that has ended. If it took much longer than it should, this process has paused
   * meanwhile. The time of the READs under way then begins anew, as their ends may wait here.
   */
  void waited(long startNanos, long plannedNanos) {
    long now = timer.nanoTime();
    if (on && now - startNanos - plannedNanos > PAUSE_NANOS) {
      synchronized (this) {
        pausedNanos = now;
      }
    }
  }

  /** Returns true if Spark's transfer should fetch the peer's batches. */
  boolean isAvoided(String peerId) {
    if (!on) {
      return false;
    }
    synchronized (this) {
      return peers.avoids(peerId);
    }
  }

  /**
   * Returns the same as {@link #isAvoided}. Names the peer once a minute, as {@code SLOW_PEER}: the
   * engine's own comparison sees too few READs of it. Hold no lock when this is called.
   *
   * @param name tells what the log calls the peer
   */
  boolean avoids(String peerId, Supplier<String> name) {
    if (!isAvoided(peerId)) {
      return false;
    }
    long lateNanos;
    long median;
    synchronized (this) {
      lateNanos = peers.report(peerId, timer.nanoTime());
      median = medianNanos;
    }
    if (lateNanos > 0) {
      slowPeer.run();
      LOG.warn(
          "SLOW_PEER {}: READs from it are late again and again, the last one took {} ms or more; the"
              + " median of all READs is {} ms. Spark's transfer fetches its small blocks until a"
              + " READ is in time, which is tried every {} s. Check load, disks and network of its"
              + " host. spark.shuffle.rdma.read.hedge=false waits for the READs",
          name.get(),
          TimeUnit.NANOSECONDS.toMillis(lateNanos),
          TimeUnit.NANOSECONDS.toMillis(median),
          TimeUnit.NANOSECONDS.toSeconds(LatePeers.PROBE_NANOS));
    }
    return true;
  }

  /** Returns true if the caller should READ a batch of a peer that is avoided as a probe. */
  synchronized boolean takesProbe(String peerId) {
    return peers.takesProbe(peerId, timer.nanoTime());
  }

  /** Records the time of a READ that succeeded. Called with the lock held. */
  private void record(long nanos, int bytes, long nowNanos) {
    if (nowNanos - windowNanos >= WINDOW_NANOS) {
      nextWindow(nowNanos);
    }
    times.record(nanos, bytes);
    fresh++;
    if (fresh == UPDATE_READS) {
      update(nowNanos);
    }
  }

  private void nextWindow(long nowNanos) {
    if (nowNanos - windowNanos < 2 * WINDOW_NANOS) {
      windows.next();
    } else {
      windows.restart();
    }
    windowNanos = nowNanos;
    peers.forgetUnused(2 * WINDOW_NANOS, nowNanos);
    update(nowNanos);
  }

  /** Computes the threshold by the median, which a slow peer among others does not raise. */
  private void update(long nowNanos) {
    fresh = 0;
    updatedNanos = nowNanos;
    LatencySnapshot recent = windows.recent();
    medianNanos = TimeUnit.MICROSECONDS.toNanos(recent.quantile(0.5));
    lateAfterNanos =
        recent.count() < MIN_READS
            ? Long.MAX_VALUE
            : Math.max(MIN_LATE_NANOS, TIMES_MEDIAN * medianNanos);
  }

  /**
   * READ of a batch, one part after the other, or READs of partition tables, perhaps several at a
   * time. {@link TaskBatchRead}, {@link ProbeRead} and {@link GroupFetch} make it. Any thread.
   */
  final class Read implements TableReads {
    private final String peerId;
    private final int bufferBytes;

    // Guarded by the LateReads.
    private boolean hasBegun;
    private boolean isLeft;

    /** Number of READs that have begun and not ended. */
    private int underWay;

    private boolean isCountedLate;

    /** True while the buffer counts as held: Spark's transfer fetches the bytes as well. */
    private boolean isHeld;

    private long startNanos;

    /**
     * @param bufferBytes bytes of the batch
     */
    Read(String peerId, int bufferBytes) {
      this.peerId = peerId;
      this.bufferBytes = bufferBytes;
    }

    /**
     * Notes the beginning of a READ.
     *
     * @return false if the batch was left to Spark's transfer: the READ must not begin
     */
    boolean begin() {
      if (!on) {
        return true;
      }
      synchronized (LateReads.this) {
        if (isLeft) {
          return false;
        }
        if (underWay == 0) {
          startNanos = timer.nanoTime();
          isCountedLate = false;
        }
        underWay++;
        hasBegun = true;
        return true;
      }
    }

    /**
     * Notes the end of a READ; others may follow. Has an effect once per beginning.
     *
     * @param bytes bytes that have come; 0 if the READ failed
     */
    void end(int bytes) {
      if (!on) {
        return;
      }
      boolean isBack = false;
      synchronized (LateReads.this) {
        if (underWay > 0) {
          underWay--;
          isBack = underWay == 0 && ended(bytes);
        }
      }
      if (isBack) {
        LOG.info("READs from peer {} are in time again", peerId);
      }
    }

    @Override
    public void tableReadBegins() {
      begin();
    }

    /** Ends a READ of tables. Its time is not that of a batch, so it does not count as one. */
    @Override
    public void tableReadEnded() {
      end(0);
    }

    /** Notes that no more is READ, so that the buffer is not held any more. Idempotent. */
    void close() {
      if (!on) {
        return;
      }
      synchronized (LateReads.this) {
        if (isHeld) {
          isHeld = false;
          heldBytes -= BufferPool.roomBytes(bufferBytes);
        }
      }
    }

    /** Returns true if the peer was avoided and is not any more. */
    private boolean ended(int bytes) {
      if (bytes == 0 && !isCountedLate) {
        return false; // Nothing to note.
      }
      boolean isBack = false;
      long now = timer.nanoTime();
      if (bytes > 0) {
        if (isLate(now)) {
          countLate(now);
        } else if (!isCountedLate) {
          isBack = peers.inTime(peerId, now);
        }
        if (!isHeld) {
          unusedBytes = Math.min(MAX_SAVED_BYTES * READ_PER_EXTRA, unusedBytes + bytes);
        }
        record(now - startNanos, bytes, now);
      }
      if (isCountedLate) {
        peers.lateEnded(peerId, startNanos, now);
      }
      return isBack;
    }

    /** The threshold of earlier minutes counts no more. */
    private boolean isLate(long nowNanos) {
      long nanos = Math.min(nowNanos - startNanos, nowNanos - pausedNanos);
      return nanos > lateAfterNanos && nowNanos - updatedNanos < 2 * WINDOW_NANOS;
    }

    private void countLate(long nowNanos) {
      if (!isCountedLate) {
        isCountedLate = true;
        peers.late(peerId, startNanos, nowNanos);
      }
    }

    /**
     * Leaves the batch to Spark's transfer if its READ has not begun, for example as it waits for a
     * staging slot. The caller ends the batch then. The READ would fetch the bytes twice, and no
     * limit would count them.
     *
     * @return false if the READ has begun
     */
    boolean leave() {
      if (!on) {
        return false;
      }
      synchronized (LateReads.this) {
        isLeft = !hasBegun;
        return isLeft;
      }
    }

    /** Returns true if the READ was overtaken and not closed since. */
    boolean isOvertaken() {
      synchronized (LateReads.this) {
        return isHeld;
      }
    }

    /**
     * Leaves a late batch to Spark's transfer, if the limits allow for that. The caller ends the
     * batch then, and the READ goes on.
     *
     * @return false if the READ is not late, or not under way, or a limit is reached; to be tried
     *     again later
     */
    boolean overtake() {
      if (!on) {
        return false;
      }
      synchronized (LateReads.this) {
        long now = timer.nanoTime();
        if (underWay == 0 || !isLate(now)) {
          return false;
        }
        countLate(now);
        if (!hold()) {
          return false;
        }
      }
      count();
      return true;
    }

    /**
     * Allows for a READ whose bytes will be dropped, before it begins. The caller calls {@link
     * #close} in any case then.
     *
     * @return false if a limit is reached
     */
    boolean holdProbe() {
      synchronized (LateReads.this) {
        if (!hold()) {
          peers.probeLater(peerId, timer.nanoTime());
          return false;
        }
      }
      count();
      return true;
    }

    private boolean hold() {
      long used = (long) READ_PER_EXTRA * bufferBytes;
      long room = BufferPool.roomBytes(bufferBytes);
      if (unusedBytes < used || heldBytes + room > maxHeldBytes) {
        return false;
      }
      unusedBytes -= used;
      heldBytes += room;
      isHeld = true;
      return true;
    }

    private void count() {
      counters.add(ShuffleCounter.HEDGE_BATCHES, 1);
      counters.add(ShuffleCounter.HEDGE_BYTES, bufferBytes);
    }
  }
}
