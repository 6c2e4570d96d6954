package dev.sluice.blocks.server;

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
import java.util.zip.CRC32C;

/**
 * A request to stage: what it asks for, until when, and its one answer. Any thread; the {@link
 * Stager} makes it and takes it from step to step.
 */
final class StageRequest {
  /**
   * Of the memory, what a peer has.
   *
   * @param cold for what disks are waited for, or for the rest
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

  /** Lanes that have not been read. */
  private final AtomicInteger unread = new AtomicInteger();

  /** What it takes memory of. */
  private volatile Share share;

  /** Whether its disks have to be waited for, and may not. */
  private volatile boolean uncached;

  private volatile PooledBuffer buffer;

  /** Why not all could be read; null as long as nothing has failed. */
  private volatile Throwable failure;

  /**
   * @param isThere whether the peer is still connected
   * @param outputs that the pieces are of, one for each
   * @param laneOfPiece that these are read in
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

  /** All of it is to be read once more, from disk, and waits for that; its buffer is another's. */
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

  /** Those that its files are read in, each once. */
  int[] lanes() {
    return lanes;
  }

  long receivedNanos() {
    return receivedNanos;
  }

  /** Since when it waits for its turn, and then for memory. */
  long queuedNanos() {
    return queuedNanos;
  }

  /** When the reader has no time left to READ. */
  long deadlineNanos() {
    long usableMs = ControlMessages.usable(stage.timeLeftMs());
    return receivedNanos + TimeUnit.MILLISECONDS.toNanos(usableMs);
  }

  /** Whether nobody waits for it any more. Once it is, it stays so. */
  boolean isLate(long nowNanos) {
    return !isThere.getAsBoolean() || nowNanos - deadlineNanos() >= 0;
  }

  /** False where it has its answer. */
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

  /** False where it has waited before. */
  boolean waits() {
    return waited.compareAndSet(false, true);
  }

  /**
   * Puts a lane's pieces at their places in the buffer, as long as somebody waits for them. Blocks
   * as its disks do once it is cold.
   */
  void read(MapOutputRegistry registry, int lane, LongSupplier nanoClock) {
    try {
      MemorySegment target = buffer.segment();
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

  /** Where its bytes are to be; whoever answers it releases the buffer. */
  void has(PooledBuffer memory) {
    buffer = memory;
  }

  /** Null where it has none. */
  PooledBuffer buffer() {
    return buffer;
  }

  void failed(Throwable e) {
    failure = e;
  }

  Throwable failure() {
    return failure;
  }

  boolean isUncached() {
    return uncached;
  }

  /** Whether that was the last of its lanes: all is read, or has failed. */
  boolean wasRead() {
    return unread.decrementAndGet() == 0;
  }

  /** Whether none of its map outputs was unregistered or replaced meanwhile. */
  boolean isCurrent(MapOutputRegistry registry) {
    for (int i = 0; i < outputs.size(); i++) {
      long mapId = stage.pieces().get(i).mapId();
      if (registry.output(stage.shuffleId(), mapId) != outputs.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** Only where there is nothing else that the bytes can be compared with. */
  long crc32c() {
    boolean verifiable =
        outputs.stream()
            .noneMatch(output -> output.header().checksumAlgorithm() == ChecksumAlgorithm.NONE);
    if (verifiable) {
      return Staged.NO_CHECKSUM;
    }
    CRC32C crc = new CRC32C();
    crc.update(buffer.segment().asByteBuffer());
    return crc.getValue();
  }

  @Override
  public String toString() {
    return "%d bytes of shuffle %d".formatted(bytes, stage.shuffleId());
  }
}
