// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.table.TableReads;
import dev.sluice.spark.transport.FallbackReason;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * READs blocks of a {@link FetchCall}. Blocks with a stale location are located again, once. They
 * are then READ per map output, as one of several may still be stale. After any other failure,
 * Spark's own transport fetches them. {@link FetchCall} starts it. Each step runs on the thread
 * that finished the step before, and none blocks. Between steps no thread is held. Each step must
 * be guarded, so that its blocks get an answer if it throws.
 */
final class ReadAttempt {
  private final FetchContext path;
  private final FetchCall call;
  private final RequestedBlocks blocks;
  private final boolean relocated;
  private final LocatedBlocks located;

  private ReadAttempt(
      FetchContext path,
      FetchCall call,
      RequestedBlocks blocks,
      boolean relocated,
      LocatedBlocks located) {
    this.path = path;
    this.call = call;
    this.blocks = blocks;
    this.relocated = relocated;
    this.located = located;
  }

  /**
   * Locates the blocks, and READs them.
   *
   * @param asked blocks of one shuffle
   * @param relocated true for the second attempt, after stale locations
   */
  static void start(
      FetchContext path, FetchCall call, List<RequestedBlock> asked, boolean relocated) {
    RequestedBlocks blocks = new RequestedBlocks(asked);
    path.locator()
        .locate(call.target().executorId(), blocks, false, call.deadlineNanos(), TableReads.UNTIMED)
        .whenComplete(
            (located, failure) ->
                call.guard(
                    asked,
                    () -> {
                      if (failure != null) {
                        throw new IllegalStateException(failure);
                      }
                      new ReadAttempt(path, call, blocks, relocated, located).read();
                    }));
  }

  FetchCall call() {
    return call;
  }

  LocatedBlocks located() {
    return located;
  }

  RequestedBlock block(int block) {
    return blocks.get(block);
  }

  private List<RequestedBlock> blocks(BitSet which) {
    return which.stream().mapToObj(blocks::get).toList();
  }

  /** Runs a step for these blocks. If it throws, which is a defect, they still get their answer. */
  void guard(BitSet which, Runnable step) {
    call.guard(blocks(which), step);
  }

  /** Locates blocks that could not be READ again, or falls back to Spark's own transport. */
  void failed(BitSet which, FallbackReason reason) {
    if (reason != FallbackReason.STALE_LOCATION || relocated) {
      call.fallBack(blocks(which), reason);
      return;
    }
    path.locator().forget(located, which);
    List<RequestedBlock> stale = blocks(which);
    call.guard(stale, () -> start(path, call, stale, true));
  }

  private void read() {
    int size = blocks.size();
    leaveOut(IntStream.range(0, size), 0);
    for (Span span : Span.registered(located, path.maxGroupBytes(), relocated)) {
      new Batch(span, false).start();
    }
    stage(0, size);
  }

  /**
   * Has the blocks staged that did not fit into a copy. Their lengths are known now.
   *
   * @param asked the blocks that were wanted
   * @param there the blocks that are there, and failed ones among them
   */
  private void readRest(Span asked, Span there) {
    leaveOut(asked.all().stream(), there.to());
    stage(there.to(), asked.to());
  }

  /** Blocks that go to files are READ in slices: a copy of one byte tells their lengths. */
  private void stage(int from, int to) {
    int most = call.files() == null ? path.maxStagedBytes() : 1;
    for (Span span : Span.staged(located, from, to, most, most)) {
      new Batch(span, false).start();
    }
  }

  /**
   * Excludes blocks from the common READs: those that cannot be READ, and those that are READ in
   * slices.
   *
   * @param from first block that is not there
   */
  private void leaveOut(IntStream candidates, int from) {
    Map<FallbackReason, BitSet> failures = new EnumMap<>(FallbackReason.class);
    BitSet large = new BitSet();
    candidates.forEach(
        block -> {
          FallbackReason reason = failure(block);
          if (reason != null) {
            failures.computeIfAbsent(reason, _ -> new BitSet()).set(block);
            located.leaveOut(block);
          } else if (block >= from && isLarge(block)) {
            large.set(block);
            located.leaveOut(block);
          }
        });
    failures.forEach((reason, which) -> failed(which, reason));
    if (!large.isEmpty()) {
      new LargeBlockRead(path, this, large).start();
    }
  }

  private boolean isLarge(int block) {
    int buffer = path.transport().maxBufferBytes();
    int most = located.isStaged(block) ? Math.min(buffer, path.options().maxStagedBytes()) : buffer;
    return located.isKnown(block) && (call.files() != null || located.length(block) > most);
  }

  /**
   * Returns why the block cannot be READ; null if it can. Spark's own transport has to report that
   * 2 GiB do not fit into memory.
   */
  private @Nullable FallbackReason failure(int block) {
    FallbackReason reason = located.failure(block);
    boolean tooLarge =
        reason == null && call.files() == null && located.length(block) > Integer.MAX_VALUE;
    return tooLarge ? FallbackReason.BLOCK_KIND : reason;
  }

  /**
   * READs a span, and hands each of its blocks to Spark. A block with wrong bytes is READ once
   * more, alone. Delivery threads verify and deliver, as the completion thread must not wait.
   */
  private final class Batch implements RangeFetch.Sink {
    private final Span span;
    private final boolean again;
    private final BitSet wanted;

    /**
     * @param again true if the bytes were READ before and were wrong
     */
    Batch(Span span, boolean again) {
      this.span = span;
      this.again = again;
      this.wanted = span.read();
    }

    void start() {
      new RangeFetch(path, call, span, this).start();
    }

    @Override
    public boolean awaits() {
      return wanted.stream().anyMatch(block -> blocks.get(block).isPending());
    }

    @Override
    public void arrived(Permit permit, Span there) {
      ReadBuffer buffer = permit.take();
      path.deliverer().execute(() -> guard(wanted, () -> deliver(buffer, there)));
    }

    @Override
    public void failed(FallbackReason reason) {
      path.deliverer().execute(() -> guard(wanted, () -> ReadAttempt.this.failed(wanted, reason)));
    }

    private void deliver(ReadBuffer buffer, Span there) {
      if (!awaits()) {
        buffer.release();
        return;
      }
      call.extendDeadline();
      SharedBytes bytes = new SharedBytes(path.parked(), buffer, there.bytes());
      try {
        BitSet wrong = BlockVerifier.mismatches(path, there, buffer.segment());
        int[] ends = there.ends();
        int start = 0;
        for (int i = 0; i < ends.length; i++) {
          int block = there.from() + i;
          if (wrong.get(block)) {
            mismatched(block);
          } else if (ends[i] > start) {
            RdmaManagedBuffer data = bytes.block(start, ends[i] - start);
            call.deliver(blocks.get(block), data, there.isStaged());
          }
          start = ends[i];
        }
      } finally {
        bytes.complete();
      }
      path.transport().touch(located.peer(), blocks.shuffleId());
      if (there.isStaged()) {
        readRest(span, there);
      }
    }

    private void mismatched(int block) {
      if (!blocks.get(block).isPending()) {
        return;
      }
      if (again) {
        BitSet one = new BitSet();
        one.set(block);
        ReadAttempt.this.failed(one, FallbackReason.CHECKSUM);
      } else {
        new Batch(Span.of(located, block), true).start();
      }
    }
  }
}
