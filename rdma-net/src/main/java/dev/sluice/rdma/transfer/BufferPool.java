package dev.sluice.rdma.transfer;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.VerbsException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered buffers under a hard cap: the targets of READs, or what peers READ.
 *
 * <p>Any thread acquires and releases; the owner's duty cycle calls {@link #expire}, and the owner
 * closes it after the last queue pair. Buffers are cut from {@link Slab}s, which are allocated and
 * registered once each as they are needed and count against the cap whole. What a process pins is
 * therefore the cap at most, whatever the number of peers.
 *
 * <p>Nobody may write to the memory from outside: it is registered for local writes, or for READs.
 */
public final class BufferPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BufferPool.class);

  private static final int MAX_SLAB_BYTES = 32 << 20;

  private record Waiter(int bytes, long deadlineNanos, Consumer<PooledBuffer> taker) {}

  private record Answer(Consumer<PooledBuffer> taker, PooledBuffer buffer) {}

  private final ProtectionDomain protectionDomain;
  private final Set<AccessFlag> access;
  private final String setting;
  private final TransferCounters counters;
  private final LongSupplier nanoClock;
  private final int slabBytes;
  private final int maxSlabs;

  // All below is guarded by this object's lock, which is never held while a taker runs.
  private final Object lock = new Object();
  private final List<Slab> slabs = new ArrayList<>();
  private final Queue<Waiter> waiters = new ArrayDeque<>();
  private final Handover<Answer> answers =
      new Handover<>(answer -> answer.taker().accept(answer.buffer()));
  private final Backoff failures = new Backoff();
  private int buffersInUse;
  private boolean warned;
  private boolean closed;

  /** Written with the lock held, whenever {@code waiters} have changed. */
  private volatile boolean awaited;

  private volatile Runnable shortage = () -> {};

  /**
   * @param setting the end of the key that {@code maxBytes} are set by
   */
  private BufferPool(
      ProtectionDomain protectionDomain,
      Set<AccessFlag> access,
      String setting,
      long maxBytes,
      TransferCounters counters,
      LongSupplier nanoClock) {
    this.protectionDomain = protectionDomain;
    this.access = access;
    this.setting = setting;
    this.counters = counters;
    this.nanoClock = nanoClock;
    slabBytes = maxBufferBytes(maxBytes);
    maxSlabs = Math.toIntExact(maxBytes / slabBytes);
  }

  /**
   * Buffers that READs write to.
   *
   * @param maxBytes registered bytes at most
   * @param nanoClock as {@link System#nanoTime}
   */
  static BufferPool targets(
      ProtectionDomain domain, long maxBytes, TransferCounters counters, LongSupplier nanoClock) {
    return new BufferPool(
        domain,
        EnumSet.of(AccessFlag.LOCAL_WRITE),
        "buffers.maxBytes",
        maxBytes,
        counters,
        nanoClock);
  }

  /**
   * Buffers that peers READ. Whoever makes it calls {@link #expire}, with the clock that it takes
   * its deadlines from.
   *
   * @param maxBytes registered bytes at most
   */
  public static BufferPool readable(ProtectionDomain domain, long maxBytes) {
    return new BufferPool(
        domain,
        EnumSet.of(AccessFlag.REMOTE_READ),
        "staging.maxBytes",
        maxBytes,
        new TransferCounters(),
        System::nanoTime);
  }

  /** The largest buffer of a pool of so many bytes, in bytes. */
  private static int maxBufferBytes(long maxBytes) {
    // At least four slabs, so that one request for the largest buffer does not take all.
    long quarter = Math.max(Slab.PAGE_BYTES, Long.highestOneBit(maxBytes / 4));
    return (int) Math.min(MAX_SLAB_BYTES, quarter);
  }

  /** The largest buffer that can be asked for, in bytes. */
  public int maxBufferBytes() {
    return slabBytes;
  }

  /** Bytes that are pinned at most. */
  public long maxBytes() {
    return (long) maxSlabs * slabBytes;
  }

  /** Bytes of the buffers that are in use, rounded up to pages. */
  public long bytesInUse() {
    return counters.get(TransferCounter.BUFFER_BYTES_IN_USE);
  }

  /** Whether somebody waits for a buffer. */
  public boolean isAwaited() {
    return awaited;
  }

  /**
   * Has {@code listener} called each time that somebody has to wait for a buffer, on the thread
   * that asks for it, with no lock held. Replaces the one before.
   */
  public void onShortage(Runnable listener) {
    shortage = listener;
  }

  /** Bytes that are pinned. */
  public long registeredBytes() {
    synchronized (lock) {
      return (long) slabs.size() * slabBytes;
    }
  }

  /** As the other one, for whoever waits: completes with the buffer, or with null. */
  public CompletableFuture<PooledBuffer> acquire(int bytes, long deadlineNanos) {
    CompletableFuture<PooledBuffer> acquired = new CompletableFuture<>();
    acquire(bytes, deadlineNanos, acquired::complete);
    return acquired;
  }

  /**
   * Hands a buffer to {@code taker}, at once where there is room, else when others are released;
   * null when the deadline passes first. Never blocks, but to allocate and register a slab, which
   * happens a few times in a process's life.
   *
   * @param deadlineNanos on the clock of whoever calls {@link #expire}
   * @param taker gets exactly one answer, on the thread that acquires, releases, expires or closes
   * @return whether it was answered at once
   * @throws IllegalArgumentException for less than 1 or more than {@link #maxBufferBytes} bytes
   */
  public boolean acquire(int bytes, long deadlineNanos, Consumer<PooledBuffer> taker) {
    if (bytes < 1 || bytes > slabBytes) {
      throw new IllegalArgumentException(
          "cannot acquire " + bytes + " bytes: a buffer has 1 to " + slabBytes);
    }
    PooledBuffer buffer = null;
    boolean waits;
    synchronized (lock) {
      if (!closed && waiters.isEmpty()) {
        buffer = allocate(bytes);
      }
      waits = buffer == null && !closed && !slabs.isEmpty();
      if (waits) {
        waiters.add(new Waiter(bytes, deadlineNanos, taker));
        awaited = true;
        counters.increment(TransferCounter.BUFFER_WAITS);
        warnOnce();
      }
    }
    if (waits) {
      shortage.run();
    } else {
      answers.give(new Answer(taker, buffer));
    }
    return !waits;
  }

  /** Answers those whose deadline passed. Called by the owner's duty cycle. */
  public int expire(long nowNanos) {
    if (!awaited) {
      return 0;
    }
    int expired = 0;
    synchronized (lock) {
      for (Iterator<Waiter> i = waiters.iterator(); i.hasNext(); ) {
        Waiter waiter = i.next();
        if (waiter.deadlineNanos() - nowNanos <= 0) {
          i.remove();
          answers.add(new Answer(waiter.taker(), null));
          counters.increment(TransferCounter.BUFFERS_DENIED);
          expired++;
        }
      }
      if (expired > 0) {
        serveWaiters(); // what the first in the queue could not use may do for the next
      }
    }
    answers.run();
    return expired;
  }

  /** What a buffer of so many bytes takes of a pool. */
  public static long roomBytes(int bytes) {
    return (long) Slab.pages(bytes) * Slab.PAGE_BYTES;
  }

  void giveBack(PooledBuffer buffer) {
    synchronized (lock) {
      buffer.slab().giveBack(buffer.firstPage(), Slab.pages(buffer.bytes()));
      counters.add(TransferCounter.BUFFER_BYTES_IN_USE, -roomBytes(buffer.bytes()));
      buffersInUse--;
      if (closed) {
        freeUnused();
      } else {
        serveWaiters();
      }
    }
    answers.run();
  }

  /**
   * Answers who waits with null and deregisters the memory. The memory itself is freed when the
   * last buffer is released; a buffer that was given up keeps it until the process ends.
   */
  @Override
  public void close() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      waiters.forEach(waiter -> answers.add(new Answer(waiter.taker(), null)));
      waiters.clear();
      awaited = false;
      slabs.forEach(Slab::close);
      freeUnused();
    }
    answers.run();
  }

  /** Strictly first come, first served: a large buffer is not starved by small ones. */
  private void serveWaiters() {
    Waiter first = waiters.peek();
    PooledBuffer buffer = first == null ? null : allocate(first.bytes());
    while (buffer != null) {
      waiters.remove();
      answers.add(new Answer(first.taker(), buffer));
      first = waiters.peek();
      buffer = first == null ? null : allocate(first.bytes());
    }
    awaited = !waiters.isEmpty();
  }

  private PooledBuffer allocate(int bytes) {
    int pages = Slab.pages(bytes);
    for (Slab slab : slabs) {
      int firstPage = slab.take(pages);
      if (firstPage >= 0) {
        return lend(slab, firstPage, bytes);
      }
    }
    if (slabs.size() >= maxSlabs || !addSlab()) {
      return null;
    }
    Slab slab = slabs.getLast();
    return lend(slab, slab.take(pages), bytes);
  }

  private PooledBuffer lend(Slab slab, int firstPage, int bytes) {
    buffersInUse++;
    counters.add(TransferCounter.BUFFER_BYTES_IN_USE, roomBytes(bytes));
    return new PooledBuffer(this, slab, firstPage, bytes);
  }

  /** A shortage may pass: it is tried again after a pause, and who READs waits or goes on. */
  private boolean addSlab() {
    long nowMs = TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong());
    if (!failures.isOver(nowMs)) {
      return false;
    }
    try {
      slabs.add(Slab.register(protectionDomain, slabBytes, access));
      return true;
    } catch (VerbsException | OutOfMemoryError e) {
      failures.failed(nowMs);
      LOG.warn(
          "Of {} there are {} bytes for now: {} more could not be allocated and registered"
              + " (for hardware verbs RLIMIT_MEMLOCK must allow them)",
          setting,
          (long) slabs.size() * slabBytes,
          slabBytes,
          e);
      return false;
    }
  }

  private void freeUnused() {
    if (buffersInUse == 0) {
      slabs.forEach(Slab::free);
      slabs.clear();
    }
  }

  private void warnOnce() {
    if (!warned) {
      warned = true;
      LOG.warn(
          "All {} bytes of {} are in use or too fragmented: blocks wait for some of them, and go"
              + " another way when they wait too long. More of them avoid it.",
          maxBytes(),
          setting);
    }
  }
}
