package dev.sluice.spark.table;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Finds blocks, for all fetches of an executor: in the driver's table or at the executor that has
 * them, and then in its partition tables, which are READ or, of what is staged, asked for. Any
 * thread; never blocks; nothing to close.
 */
public final class BlockLocator {
  /**
   * Heap of what is known of tables at most: the headers of a million map outputs, or all of 60,000
   * tables of 32 partitions.
   */
  private static final long HEADER_CACHE_BYTES = 32 << 20;

  private final Locator locator;
  private final TableReader tables;

  /**
   * Blocks that are found together.
   *
   * @param blocks who they are; where they are once it is done
   * @param found completes exceptionally by a defect only
   */
  public record Part(LocatedBlocks blocks, CompletableFuture<Void> found) {}

  /**
   * @param deliverer reads what partition tables say
   * @param maxReadBytes bytes of partition tables that are READ with one request
   * @param nanoClock which deadlines are given in
   */
  public BlockLocator(
      Locator locator,
      ReadTransport transport,
      Executor deliverer,
      int maxReadBytes,
      LongSupplier nanoClock) {
    this.locator = locator;
    this.tables =
        new TableReader(transport, deliverer, HEADER_CACHE_BYTES, maxReadBytes, nanoClock);
  }

  /** A task is about to fetch blocks of the shuffle. */
  public void prepare(int shuffleId) {
    locator.prepare(shuffleId);
  }

  /**
   * Finds an executor's blocks. Completes on the thread that finished the last step, this one
   * perhaps; exceptionally by a defect only.
   *
   * @param verifiable whether what has no checksums is staged even where it is registered
   * @param bufferDeadlineNanos asked when a buffer for partition tables is: when to have it
   * @return parts of which each has its answer when its own tables are there
   */
  public CompletableFuture<List<Part>> locate(
      String executorId,
      BlockList blocks,
      boolean verifiable,
      long deadlineNanos,
      LongSupplier bufferDeadlineNanos) {
    try {
      return locator
          .locate(blocks.shuffleId(), executorId, blocks.mapIds())
          .thenApply(
              found ->
                  read(
                      new LocatedBlocks(blocks, found, verifiable),
                      deadlineNanos,
                      bufferDeadlineNanos));
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private List<Part> read(
      LocatedBlocks located, long deadlineNanos, LongSupplier bufferDeadlineNanos) {
    int shuffleId = located.blocks().shuffleId();
    long bufferNanos = bufferDeadlineNanos.getAsLong();
    List<Part> parts = new ArrayList<>();
    for (LocatedBlocks part : located.parts()) {
      CompletableFuture<Void> found =
          tables
              .read(part.peer(), shuffleId, part.pieces(), deadlineNanos, bufferNanos)
              .thenRun(part::fill);
      parts.add(new Part(part, found));
    }
    return parts;
  }

  /**
   * A READ found the locations of blocks stale: neither they nor what was READ through them is used
   * again.
   */
  public void forget(LocatedBlocks located, BitSet blocks) {
    int shuffleId = located.blocks().shuffleId();
    Set<MapOutputLocation> stale = new LinkedHashSet<>();
    for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
      stale.add(located.location(block));
    }
    stale.remove(null); // that was not known
    for (MapOutputLocation location : stale) {
      locator.invalidate(shuffleId, location);
      tables.drop(shuffleId, location);
    }
  }

  /** The shuffle is unregistered. */
  public void forget(int shuffleId) {
    tables.drop(shuffleId);
  }
}
