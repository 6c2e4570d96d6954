// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs blocks of any size by {@link BlockSlices}, one after the other, into Spark's download files
 * or memory of their own. {@link ReadAttempt} makes and starts it. Events are handled in steps of
 * the slices, one at a time, on delivery threads, so plain fields suffice. Owns the slices and the
 * current block, and frees both when it ends. A request of several gigabytes stays within its
 * deadline as long as there is progress.
 */
final class LargeBlockRead implements BlockSlices.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(LargeBlockRead.class);

  private static final int NONE = -1;

  /**
   * Size of a piece, which is verified and stored while it is in the core's cache. Linux gives a
   * write folios of its own size. For folios above 32 KiB (PAGE_ALLOC_COSTLY_ORDER) it compacts and
   * reclaims memory even if some is free. Map outputs then have to come from the disk again.
   */
  private static final int PIECE_BYTES = 32 << 10;

  private final FetchContext path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final LocatedBlocks located;
  private final BlockVerifier verifier;
  private final BlockSlices slices;

  /** Blocks that have no answer yet, including the current one. */
  private final BitSet remaining;

  private int current = NONE;

  /** Gets the bytes of the current block; null before the first block. */
  private @Nullable BlockSink target;

  /** True if the current block is READ for the second time. */
  private boolean again;

  private boolean ended;

  /**
   * READs into the call's download files if it has some, else into memory. This takes as much
   * memory as Spark's own transport does for blocks that are larger than a buffer of the pool. The
   * bound is the same: spark.reducer.maxSizeInFlight, or one block.
   */
  LargeBlockRead(FetchContext path, ReadAttempt attempt, BitSet blocks) {
    this.path = path;
    this.call = attempt.call();
    this.attempt = attempt;
    this.located = attempt.located();
    this.verifier = new BlockVerifier(path, located);
    this.remaining = (BitSet) blocks.clone();
    long longest = blocks.stream().mapToLong(located::length).max().orElseThrow();
    boolean staged = blocks.stream().anyMatch(located::isStaged);
    int most = staged ? path.maxStagedBytes() : path.maxGroupBytes();
    int bufferBytes = (int) Math.min(longest, most);
    this.slices = new BlockSlices(path, call, located, bufferBytes, staged, this);
  }

  void start() {
    slices.acquire();
  }

  private void nextBlock() throws IOException {
    again = false;
    do {
      if (current != NONE) {
        remaining.clear(current);
      }
      current = remaining.nextSetBit(0);
    } while (current != NONE && !attempt.block(current).isPending());
    if (current == NONE) {
      ended = true;
      slices.close();
    } else {
      beginBlock();
    }
  }

  private void beginBlock() throws IOException {
    RequestedBlock block = attempt.block(current);
    target = BlockSink.of(call, path.transportConf(), block, located.length(current));
    verifier.begin(current);
    slices.begin(current);
  }

  @Override
  public void ready() throws IOException {
    nextBlock();
  }

  @Override
  public void arrived(MemorySegment slice) throws IOException {
    path.transport().touch(located.peer(), located.blocks().shuffleId());
    if (!attempt.block(current).isPending()) {
      slices.skipRest();
      return;
    }
    for (long from = 0; from < slice.byteSize(); from += PIECE_BYTES) {
      MemorySegment piece = slice.asSlice(from, Math.min(PIECE_BYTES, slice.byteSize() - from));
      verifier.update(piece.asByteBuffer());
      target().append(piece);
    }
  }

  @Override
  public void ended() throws IOException {
    if (target().position() < located.length(current)) {
      target().abort();
      nextBlock();
    } else {
      finishBlock();
    }
  }

  private BlockSink target() {
    return requireNonNull(target);
  }

  private void finishBlock() throws IOException {
    if (verifier.matches()) {
      target().finish(located.isStaged(current));
      nextBlock();
      return;
    }
    target().abort();
    path.counters().add(ShuffleCounter.CORRUPTIONS, 1);
    LOG.warn(
        "Block {} READ in slices from {} does not match the checksum it was written with; {}",
        attempt.block(current),
        located.peer(),
        again ? "Spark's own transfer fetches it" : "it is READ again");
    if (again) {
      call.fallBack(List.of(attempt.block(current)), FallbackReason.CHECKSUM);
      nextBlock();
    } else {
      again = true;
      beginBlock();
    }
  }

  /** Falls back for the remaining blocks. Spark's own transport reports a disk that fails. */
  @Override
  public void failed(Throwable e) {
    LOG.warn(
        "Storing blocks READ from {} failed; Spark's own transfer fetches the rest",
        located.peer(),
        e);
    failed(call.files() == null ? FallbackReason.BUFFERS : FallbackReason.DISK);
  }

  @Override
  public void failed(FallbackReason reason) {
    if (ended) {
      return;
    }
    ended = true;
    slices.close();
    try {
      if (target != null) {
        target.abort();
      }
    } finally {
      attempt.guard(remaining, () -> attempt.failed(remaining, reason));
    }
  }
}
