// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.LocatedBlocks.Span;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.BitSet;

/**
 * READs blocks of a {@link ReadAttempt} and hands each to Spark. A block with wrong bytes is READ
 * once more, alone. The attempt makes and starts it, on any thread. Verification and delivery run
 * on a delivery thread: a sink's methods are called on the completion thread, which must not wait.
 */
final class ClientBatchRead implements RangeFetch.Sink {
  private final FetchContext path;
  private final ReadAttempt attempt;
  private final Span span;
  private final BitSet blocks;
  private final boolean again;
  private final RangeFetch fetch;

  /**
   * @param again true if the bytes were READ before and were wrong
   */
  ClientBatchRead(FetchContext path, ReadAttempt attempt, Span span, boolean again) {
    this.path = path;
    this.attempt = attempt;
    this.again = again;
    this.span = span;
    this.blocks = attempt.located().read(span);
    this.fetch = new RangeFetch(path, attempt.call(), attempt.located(), span, this);
  }

  void start() {
    fetch.start();
  }

  @Override
  public boolean awaits() {
    return blocks.stream().anyMatch(block -> attempt.block(block).isPending());
  }

  @Override
  public void arrived(Permit permit, Span there) {
    ReadTransport.Buffer buffer = permit.take();
    path.deliverer().execute(() -> attempt.guard(blocks, () -> deliver(buffer, there)));
  }

  @Override
  public void failed(FallbackReason reason) {
    path.deliverer().execute(() -> attempt.guard(blocks, () -> attempt.failed(blocks, reason)));
  }

  private void deliver(ReadTransport.Buffer buffer, Span there) {
    if (!awaits()) {
      buffer.release();
      return;
    }
    attempt.call().extendDeadline();
    LocatedBlocks located = attempt.located();
    SharedBytes bytes = new SharedBytes(path.parked(), buffer, there.bytes());
    try {
      BitSet wrong = BlockVerifier.mismatches(path, located, there, buffer.segment());
      int[] ends = located.ends(there);
      int start = 0;
      for (int i = 0; i < ends.length; i++) {
        int block = there.from() + i;
        if (wrong.get(block)) {
          mismatched(block);
        } else if (ends[i] > start) {
          RdmaManagedBuffer data = bytes.block(start, ends[i] - start);
          attempt.call().deliver(attempt.block(block), data, there.isStaged());
        }
        start = ends[i];
      }
    } finally {
      bytes.complete();
    }
    path.transport().touch(located.peer(), located.blocks().shuffleId());
    if (there.isStaged()) {
      attempt.readRest(span, there);
    }
  }

  private void mismatched(int block) {
    if (!attempt.block(block).isPending()) {
      return;
    }
    if (again) {
      BitSet one = new BitSet();
      one.set(block);
      attempt.failed(one, FallbackReason.CHECKSUM);
    } else {
      new ClientBatchRead(path, attempt, attempt.located().span(block), true).start();
    }
  }
}
