// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.verbs.VerbsException;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered buffers under a hard cap: either targets of READs, or memory that peers READ.
 *
 * <p>Any thread acquires and releases. The owner, an {@link RdmaEndpoint} or a stager, calls {@link
 * #expire} in its duty cycle, and closes the pool after the last queue pair. Buffers are cut from
 * {@link Slab}s. A slab is allocated and registered when it is needed, and its whole size counts
 * against the cap. A process therefore pins no more than the cap, whatever the number of peers.
 * Methods that allocate, serve or free need the lock. A slab is registered with the lock held, so
 * other callers wait for it.
 *
 * <p>No peer can write to the memory: it is registered for local writes or for remote READs.
 */
public final class BufferPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BufferPool.class);

  /** Largest slab, and so the largest buffer, where no option says less. */
  static final int MAX_BUFFER_BYTES = 32 << 20;

  private record Waiter(int bytes, long deadlineNanos, Consumer<? super PooledBuffer> taker) {}

  private record Answer(Consumer<? super PooledBuffer> taker, @Nullable PooledBuffer buffer) {}

  private final ProtectionDomain protectionDomain;
  private final Set<AccessFlag> access;
  private final String setting;
  private final Counters<TransferCounter> counters;
  private final LongSupplier nanoClock;
  private final int slabBytes;
  private final int maxSlabs;

  // All fields below are guarded by this lock, which is never held while a taker runs.
  private final Object lock = new Object();
  private final List<Slab> slabs = new ArrayList<>();
  private final Queue<Waiter> waiters = new ArrayDeque<>();
  private final DeferredResults<Answer> answers =
      new DeferredResults<>(answer -> answer.taker().accept(answer.buffer()));
  private final CircuitBreaker failures = CircuitBreaker.backoff();
  private int buffersInUse;
  private boolean warned;
  private boolean closed;

  /** True if {@code waiters} is not empty. Written with the lock held. */
  private volatile boolean awaited;

  private volatile Runnable shortage = () -> {};

  /**
   * @param setting end of the configuration key that sets {@code maxBytes}
   */
  private BufferPool(
      ProtectionDomain protectionDomain,
      Set<AccessFlag> access,
      String setting,
      long maxBytes,
      int maxBufferBytes,
      Counters<TransferCounter> counters,
      LongSupplier nanoClock) {
    this.protectionDomain = protectionDomain;
    this.access = access;
    this.setting = setting;
    this.counters = counters;
    this.nanoClock = nanoClock;
    slabBytes = slabBytes(maxBytes, maxBufferBytes);
    maxSlabs = Math.toIntExact(maxBytes / slabBytes);
  }

  /**
   * Creates a pool of buffers that READs write to.
   *
   * @param maxBytes limit of registered bytes
   * @param maxBufferBytes {@link TransferOptions#maxBufferBytes}
   * @param nanoClock as {@link System#nanoTime}
   */
  static BufferPool targets(
      ProtectionDomain domain,
      long maxBytes,
      int maxBufferBytes,
      Counters<TransferCounter> counters,
      LongSupplier nanoClock) {
    return new BufferPool(
        domain,
        EnumSet.of(AccessFlag.LOCAL_WRITE),
        "buffers.maxBytes",
        maxBytes,
        maxBufferBytes,
        counters,
        nanoClock);
  }

  /**
   * Creates a pool of buffers that peers READ. The caller calls {@link #expire}, with the same
   * clock as its deadlines.
   *
   * @param maxBytes limit of registered bytes
   */
  public static BufferPool readable(ProtectionDomain domain, long maxBytes) {
    return new BufferPool(
        domain,
        EnumSet.of(AccessFlag.REMOTE_READ),
        "staging.maxBytes",
        maxBytes,
        MAX_BUFFER_BYTES,
        new Counters<>(TransferCounter.class),
        System::nanoTime);
  }

  private static int slabBytes(long maxBytes, int maxBufferBytes) {
    // At least four slabs, so that one request for the largest buffer does not take all.
    long limit = Math.min(maxBufferBytes, maxBytes / 4);
    return (int) Math.max(Slab.PAGE_BYTES, Long.highestOneBit(limit));
  }

  /** Maximum size of a buffer, in bytes. */
  public int maxBufferBytes() {
    return slabBytes;
  }

  /** Maximum of pinned bytes. */
  public long maxBytes() {
    return (long) maxSlabs * slabBytes;
  }

  /** Bytes of the buffers in use, rounded up to pages. */
  public long bytesInUse() {
    return counters.get(TransferCounter.BUFFER_BYTES_IN_USE);
  }

  /** True if a request waits for a buffer. */
  public boolean isAwaited() {
    return awaited;
  }

  /**
   * Calls {@code listener} each time that a request has to wait for a buffer, on the requesting
   * thread, with no lock held. Replaces the previous listener.
   */
  public void onShortage(Runnable listener) {
    shortage = listener;
  }

  /** Bytes that are pinned now. */
  public long registeredBytes() {
    synchronized (lock) {
      return (long) slabs.size() * slabBytes;
    }
  }

  /** Acquires a buffer as the other method does; completes with the buffer, or with null. */
  public CompletableFuture<PooledBuffer> acquire(int bytes, long deadlineNanos) {
    CompletableFuture<PooledBuffer> acquired = new CompletableFuture<>();
    acquire(bytes, deadlineNanos, acquired::complete);
    return acquired;
  }

  /**
   * Hands a buffer to {@code taker}: at once if there is room, else when other buffers are
   * released. Hands over null if the deadline passes first, the pool closes, or it has no memory at
   * all. Never blocks, except to allocate and register a slab, which happens a few times in a
   * process's life.
   *
   * @param deadlineNanos on the clock that {@link #expire} is called with
   * @param taker gets exactly one answer, on the thread that acquires, releases, expires or closes
   * @return true if it was answered at once
   * @throws IllegalArgumentException for less than 1 or more than {@link #maxBufferBytes} bytes
   */
  public boolean acquire(int bytes, long deadlineNanos, Consumer<? super PooledBuffer> taker) {
    if (bytes < 1 || bytes > slabBytes) {
      throw new IllegalArgumentException(
          "cannot acquire " + bytes + " bytes: a buffer has 1 to " + slabBytes + " bytes");
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

  /** Answers requests whose deadline has passed. Called by the owner's duty cycle. */
  public int expire(long nowNanos) {
    if (!awaited) {
      return 0;
    }
    int expired = 0;
    synchronized (lock) {
      for (Iterator<Waiter> i = waiters.iterator(); i.hasNext(); ) {
        Waiter waiter = i.next();
        if (waiter.deadlineNanos() - nowNanos <= 0) {
          answers.add(new Answer(waiter.taker(), null));
          i.remove();
          counters.increment(TransferCounter.BUFFERS_DENIED);
          expired++;
        }
      }
      if (expired > 0) {
        serveWaiters(); // There may be room for the next request.
      }
    }
    answers.run();
    return expired;
  }

  /** Returns the bytes that a buffer of so many bytes takes of a pool. */
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
   * Answers waiting requests with null and deregisters the memory. The memory itself is freed when
   * the last buffer is released; a buffer that was given up keeps the memory until the process
   * ends.
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

  /** Strictly first come, first served, so that small buffers do not starve a large one. */
  private void serveWaiters() {
    for (Waiter first = waiters.peek(); first != null; first = waiters.peek()) {
      PooledBuffer buffer = allocate(first.bytes());
      if (buffer == null) {
        break;
      }
      answers.add(new Answer(first.taker(), buffer));
      waiters.remove();
    }
    awaited = !waiters.isEmpty();
  }

  private @Nullable PooledBuffer allocate(int bytes) {
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

  /** Adds a slab. After a failure, tries again only after a pause, since a shortage may pass. */
  private boolean addSlab() {
    long nowMs = TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong());
    if (failures.isOpen(nowMs)) {
      return false;
    }
    try {
      slabs.add(Slab.register(protectionDomain, slabBytes, access));
      return true;
    } catch (VerbsException | OutOfMemoryError e) {
      failures.failed(nowMs);
      LOG.warn(
          "The pool that {} limits has {} bytes for now: allocating and registering {} more failed"
              + " (with verbs, RLIMIT_MEMLOCK must allow them)",
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
          "All {} bytes of {} are in use or too fragmented: blocks wait for a buffer, and fall back"
              + " when they wait too long. A larger value avoids this.",
          maxBytes(),
          setting);
    }
  }
}
