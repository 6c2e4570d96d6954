// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.MapOutput;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.transfer.PooledBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * A request to stage: the pieces, the deadline and the one answer. The {@link Stager} creates it
 * and moves it from step to step, on the thread that ends the step before. Lanes, share and buffer
 * change only between steps, when no lane is being read. Any thread may answer it; only the first
 * answer counts.
 */
final class StageRequest {
  /**
   * Share of the staging memory.
   *
   * @param cold true for bytes that have to be read from disk, false for cached bytes
   */
  record Share(Object peer, boolean cold) {}

  private final BooleanSupplier isThere;
  private final Stage stage;
  private final List<MapOutput> outputs;
  private final int bytes;
  private final long receivedNanos;
  private final Consumer<Object> answer;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final AtomicBoolean waited = new AtomicBoolean();

  private volatile int[] laneOfPiece;
  private volatile int[] lanes;
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
   * @param outputs map output of each piece
   * @param laneOfPiece lane in which each piece is read
   * @param receivedNanos on the stager's clock
   * @param answer gets one answer
   */
  StageRequest(
      Object peer,
      BooleanSupplier isThere,
      Stage stage,
      List<MapOutput> outputs,
      int[] laneOfPiece,
      long receivedNanos,
      Consumer<Object> answer) {
    this.share = new Share(peer, false);
    this.isThere = isThere;
    this.stage = stage;
    this.outputs = outputs;
    this.bytes = stage.pieces().stream().mapToInt(Piece::length).sum();
    this.receivedNanos = receivedNanos;
    this.answer = answer;
    queueIn(laneOfPiece, receivedNanos);
  }

  private void queueIn(int[] ofPiece, long nowNanos) {
    laneOfPiece = ofPiece;
    lanes = Arrays.stream(ofPiece).distinct().toArray();
    unread.set(lanes.length);
    queuedNanos = nowNanos;
  }

  /** Makes it cold: all pieces are read again, from disk, after another wait for admission. */
  void turnCold(StageLanes all, long nowNanos) {
    buffer = null;
    share = new Share(share.peer(), true);
    uncached = false;
    queueIn(Arrays.stream(laneOfPiece).map(all::cold).toArray(), nowNanos);
  }

  Object peer() {
    return share.peer();
  }

  Share share() {
    return share;
  }

  int bytes() {
    return bytes;
  }

  /** Lanes of its pieces, each once. */
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
    long usableMs = ControlMessages.usable(stage.timeLeftMs());
    return receivedNanos + TimeUnit.MILLISECONDS.toNanos(usableMs);
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
   * Copies a lane's pieces to their places in the buffer, as long as the reader waits. Blocks on
   * the disks if the request is cold.
   */
  void read(MapOutputRegistry registry, int lane, LongSupplier nanoClock) {
    try {
      MemorySegment target = requireNonNull(buffer).segment();
      int at = 0;
      for (int i = 0; i < outputs.size() && failure == null && !uncached; i++) {
        Piece piece = stage.pieces().get(i);
        if (laneOfPiece[i] == lane) {
          if (answered.get() || isLate(nanoClock.getAsLong())) {
            return;
          }
          MemorySegment part = target.asSlice(at, piece.length());
          if (!registry.read(
              outputs.get(i), piece.position(), part.asByteBuffer(), !share.cold())) {
            uncached = true;
          }
        }
        at += piece.length();
      }
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
  }

  /** Sets the buffer that the pieces are copied to. The thread that answers releases it. */
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

  /** Returns true if none of its map outputs has been unregistered or replaced meanwhile. */
  boolean isCurrent(MapOutputRegistry registry) {
    for (int i = 0; i < outputs.size(); i++) {
      long mapId = stage.pieces().get(i).mapId();
      if (registry.output(stage.shuffleId(), mapId) != outputs.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** CRC32C of all bytes, unless all map outputs have checksums of Spark's. */
  long crc32c() {
    boolean verifiable =
        outputs.stream()
            .noneMatch(output -> output.header().checksumAlgorithm() == ChecksumAlgorithm.NONE);
    if (verifiable) {
      return Staged.NO_CHECKSUM;
    }
    Checksum crc = ChecksumAlgorithm.CRC32C.newChecksum();
    crc.update(requireNonNull(buffer).segment().asByteBuffer());
    return crc.getValue();
  }

  @Override
  public String toString() {
    return "%d bytes of shuffle %d".formatted(bytes, stage.shuffleId());
  }
}
