// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.BitSet;

/**
 * READs blocks of a {@link ReadAttempt} and hands each to Spark. A block with wrong bytes is READ
 * once more, alone. The attempt makes and starts it, on any thread. Verification and delivery run
 * on a delivery thread: a sink's methods are called on the completion thread, which must not wait.
 */
final class ClientBatchRead implements BatchRead.Sink {
  private final FetchContext path;
  private final ReadAttempt attempt;
  private final BitSet blocks;
  private final boolean again;
  private final BatchRead read;

  /**
   * @param again true if the bytes were READ before and were wrong
   */
  ClientBatchRead(FetchContext path, ReadAttempt attempt, LocatedBlocks.Span span, boolean again) {
    this.path = path;
    this.attempt = attempt;
    this.again = again;
    this.blocks = attempt.located().read(span);
    this.read = new BatchRead(path, attempt.located(), span, this);
  }

  void start() {
    read.start(attempt.call().task());
  }

  @Override
  public boolean awaits() {
    return blocks.stream().anyMatch(block -> attempt.block(block).isPending());
  }

  @Override
  public long deadlineNanos() {
    return attempt.call().deadlineNanos();
  }

  @Override
  public void extendDeadline() {
    attempt.call().extendDeadline();
  }

  @Override
  public void arrived(ReadTransport.Buffer buffer) {
    path.deliverer().execute(() -> attempt.guard(blocks, () -> deliver(buffer)));
  }

  @Override
  public void failed(FallbackReason reason) {
    path.deliverer().execute(() -> attempt.guard(blocks, () -> attempt.failed(blocks, reason)));
  }

  private void deliver(ReadTransport.Buffer buffer) {
    if (!awaits()) {
      buffer.release();
      return;
    }
    attempt.call().extendDeadline();
    LocatedBlocks located = attempt.located();
    SharedBytes bytes = new SharedBytes(path.parked(), buffer);
    try {
      BitSet wrong = read.mismatches(buffer.segment());
      long offset = 0;
      for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
        long length = located.length(block);
        if (wrong.get(block)) {
          mismatched(block);
        } else {
          RdmaManagedBuffer data = bytes.block(offset, length);
          attempt.call().deliver(attempt.block(block), data, located.isStaged(block));
        }
        offset += length;
      }
    } finally {
      bytes.complete();
    }
    path.transport().touch(located.peer(), located.blocks().shuffleId());
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
      LocatedBlocks.Span span = attempt.located().span(block);
      new ClientBatchRead(path, attempt, span, true).start();
    }
  }
}
