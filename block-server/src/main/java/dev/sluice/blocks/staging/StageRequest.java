// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A request to stage: its blocks, the deadline and the one answer. The {@link Stager} creates it
 * and moves it from step to step, on the thread that ends the step before. Lanes, bytes, share and
 * buffer change only between steps, when no lane is being read. Any thread may answer it; only the
 * first answer counts.
 */
final class StageRequest {
  /**
   * Share of the staging memory.
   *
   * @param cold true for bytes that have to be read from disk, false for cached bytes
   */
  record Share(Object peer, boolean cold) {}

  private final BooleanSupplier isThere;
  private final StagedBlocks blocks;
  private final long receivedNanos;
  private final Consumer<Object> answer;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final AtomicBoolean waited = new AtomicBoolean();

  private volatile int bytes;
  private volatile int[] lanes = {};
  private volatile long queuedNanos;

  /** Number of lanes that have not been read. */
  private final AtomicInteger unread = new AtomicInteger();

  /** Share that its memory is counted against. */
  private volatile Share share;

  /** True if some bytes are not in the page cache, and the request is not cold yet. */
  private volatile boolean uncached;

  private volatile @Nullable PooledBuffer buffer;

  /** Failure of a read; null as long as none has failed. */
  private volatile @Nullable Throwable failure;

  /**
   * @param isThere returns true while the peer is connected
   * @param receivedNanos on the stager's clock
   * @param answer gets one answer
   */
  StageRequest(
      Object peer,
      BooleanSupplier isThere,
      StagedBlocks blocks,
      long receivedNanos,
      Consumer<Object> answer) {
    this.share = new Share(peer, false);
    this.isThere = isThere;
    this.blocks = blocks;
    this.receivedNanos = receivedNanos;
    this.answer = answer;
  }

  StagedBlocks blocks() {
    return blocks;
  }

  /**
   * Ends this request without an answer.
   *
   * @param others blocks that are staged in its place
   * @return the request that gets the answer; null if there was one already
   */
  @Nullable StageRequest replaced(StagedBlocks others) {
    return answered.compareAndSet(false, true)
        ? new StageRequest(peer(), isThere, others, receivedNanos, answer)
        : null;
  }

  /**
   * Begins the next step.
   *
   * @param bytesOfStep memory that it needs; 0 to read tables
   * @param lanesOfStep lanes that it reads, each once
   */
  void step(int bytesOfStep, int[] lanesOfStep, long nowNanos) {
    bytes = bytesOfStep;
    lanes = lanesOfStep;
    unread.set(lanesOfStep.length);
    queuedNanos = nowNanos;
  }

  /** Makes it cold: all blocks are read again, from disk, after another wait for admission. */
  void turnCold(long nowNanos) {
    buffer = null;
    share = new Share(share.peer(), true);
    uncached = false;
    step(bytes, blocks.dataLanes(true), nowNanos);
  }

  Object peer() {
    return share.peer();
  }

  Share share() {
    return share;
  }

  /** Memory that the step needs; 0 while it reads tables. */
  int bytes() {
    return bytes;
  }

  /** Lanes of the step, each once. */
  int[] lanes() {
    return lanes;
  }

  long receivedNanos() {
    return receivedNanos;
  }

  /** Time from which the request waits for admission and then for memory. */
  long queuedNanos() {
    return queuedNanos;
  }

  /** Time at which too little of the reader's time is left to READ. */
  long deadlineNanos() {
    long usableMs = ControlMessages.usable(blocks.timeLeftMs());
    return receivedNanos + TimeUnit.MILLISECONDS.toNanos(usableMs);
  }

  /** Returns true if the rest of the time is for the bytes: a slow disk costs its own blocks. */
  private boolean isHalfOver(long nowNanos) {
    return nowNanos - receivedNanos >= (deadlineNanos() - receivedNanos) / 2;
  }

  /** Returns true if no reader waits any more. Never turns false again. */
  boolean isLate(long nowNanos) {
    return !isThere.getAsBoolean() || nowNanos - deadlineNanos() >= 0;
  }

  /** Sends the answer; returns false if there was one already. */
  boolean answer(Object message) {
    boolean first = answered.compareAndSet(false, true);
    if (first) {
      answer.accept(message);
    }
    return first;
  }

  boolean isAnswered() {
    return answered.get();
  }

  /** Returns true the first time that the request waits, false afterwards. */
  boolean waits() {
    return waited.compareAndSet(false, true);
  }

  /**
   * Reads a lane's files, as long as the reader waits: tables in a step without memory, else bytes
   * to the buffer. Blocks on the disks if the request is cold, or reads tables.
   */
  void read(int lane, LongSupplier nanoClock) {
    try {
      if (bytes == 0) {
        blocks.readTables(lane, () -> ends(nanoClock) || isHalfOver(nanoClock.getAsLong()));
      } else if (!blocks.copy(
          lane, share.cold(), requireNonNull(buffer).segment(), () -> ends(nanoClock))) {
        uncached = true;
      }
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
  }

  private boolean ends(LongSupplier nanoClock) {
    return failure != null || uncached || answered.get() || isLate(nanoClock.getAsLong());
  }

  /** Sets the buffer that the blocks are copied to. The thread that answers releases it. */
  void has(PooledBuffer memory) {
    buffer = memory;
  }

  /** Buffer of the request; null if it has none. */
  @Nullable PooledBuffer buffer() {
    return buffer;
  }

  void failed(Throwable e) {
    failure = e;
  }

  /** Returns the failure of a read; null as long as none has failed. */
  @Nullable Throwable failure() {
    return failure;
  }

  boolean isUncached() {
    return uncached;
  }

  /** Marks one lane as read or failed; returns true if it was the last one. */
  boolean wasRead() {
    return unread.decrementAndGet() == 0;
  }

  @Override
  public String toString() {
    return blocks.toString();
  }
}
