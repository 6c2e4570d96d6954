// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.transport.ReadTransport;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongUnaryOperator;

/**
 * Finds blocks of other executors, for all fetches of this one. First it locates their map outputs,
 * in the driver's table or at the executor that has them. Then it READs the partition tables that
 * are registered. Lengths of other blocks come when these are staged. {@code RdmaBlockStoreClient}
 * makes one for its own executor. Fetches call it on any thread; it never blocks. Nothing to close.
 */
public final class BlockLocator {
  /**
   * Limit of the heap for cached tables: a million headers of map outputs, 32 bytes each, or 60,000
   * whole tables of 32 partitions.
   */
  private static final long HEADER_CACHE_BYTES = 32 << 20;

  private final Locator locator;
  private final TableReader tables;
  private final LongUnaryOperator bufferDeadline;

  /**
   * @param bufferDeadline returns the deadline for a buffer now, for a fetch with a deadline
   * @param deliverer evaluates partition tables
   * @param maxReadBytes maximum bytes of partition tables that are READ together
   */
  public BlockLocator(
      Locator locator,
      ReadTransport transport,
      LongUnaryOperator bufferDeadline,
      Executor deliverer,
      int maxReadBytes) {
    this.locator = locator;
    this.bufferDeadline = bufferDeadline;
    this.tables = new TableReader(transport, deliverer, HEADER_CACHE_BYTES, maxReadBytes);
  }

  /** Called when a task is about to fetch blocks of the shuffle. */
  public void prepare(int shuffleId) {
    locator.prepare(shuffleId);
  }

  /**
   * Finds the blocks of one remote executor. Completes on the thread that finished the last step,
   * which may be the caller's; exceptionally only after a defect.
   *
   * @param verifiable true to have map outputs without checksums staged even if they are registered
   * @param reads told of the READs of partition tables
   */
  public CompletableFuture<LocatedBlocks> locate(
      String executorId,
      BlockList blocks,
      boolean verifiable,
      long deadlineNanos,
      TableReads reads) {
    try {
      return locator
          .locate(blocks.shuffleId(), executorId, blocks.mapIds())
          .thenCompose(
              found -> read(new LocatedBlocks(blocks, found, verifiable), deadlineNanos, reads));
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<LocatedBlocks> read(
      LocatedBlocks located, long deadlineNanos, TableReads reads) {
    if (!located.hasPeer()) {
      return CompletableFuture.completedFuture(located); // No block is READ.
    }
    return tables
        .read(
            located.peer(),
            located.blocks().shuffleId(),
            located.slices(),
            deadlineNanos,
            bufferDeadline.applyAsLong(deadlineNanos),
            reads)
        .thenApply(_ -> located.fill());
  }

  /**
   * Called when a READ found the locations of blocks stale. Neither these locations nor tables that
   * were READ through them are used again.
   */
  public void forget(LocatedBlocks located, BitSet blocks) {
    int shuffleId = located.blocks().shuffleId();
    Set<MapOutputLocation> stale = new LinkedHashSet<>();
    for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
      stale.add(located.location(block));
    }
    stale.remove(null); // locations that were not known
    for (MapOutputLocation location : stale) {
      locator.invalidate(shuffleId, location);
      tables.drop(shuffleId, location);
    }
  }

  /** Forgets cached tables of a shuffle that is over. The runtime tells the locator itself. */
  public void forget(int shuffleId) {
    tables.drop(shuffleId);
  }
}
