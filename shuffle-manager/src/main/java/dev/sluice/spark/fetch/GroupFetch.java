// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.table.TableReads;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Locates the blocks of a group and divides them into batches, for the {@link BatchFetcher} that
 * makes it. Blocks of a staged batch that did not come are divided again, as their lengths are
 * known then. Blocks that are too large for a batch, or cannot be READ or verified here, are left
 * to Spark. Any thread; each block is with one thread at a time, so there is no lock.
 */
final class GroupFetch implements BatchFetcher.Step {
  /**
   * Number of batches that fit into the reader's part of the limit, so that one is consumed while
   * others are READ.
   */
  private static final int MIN_BATCHES = 4;

  /**
   * Limit of staging requests for one member. All of them share one deadline, and other blocks get
   * the buffer and the quota only after the last of them.
   */
  private static final int MAX_STAGED_PARTS = 4;

  /** Bytes of a block's entry and its map output's header in a partition table. */
  private static final int TABLE_BYTES = (MapOutputHeader.LONGS + TableEntry.LONGS) * Long.BYTES;

  private final FetchContext path;
  private final BatchFetcher fetcher;
  private final ExecutorBlocks group;
  private final long deadlineNanos;

  /** Null until the peer is known. */
  private LateReads.@Nullable Read tables;

  GroupFetch(FetchContext path, BatchFetcher fetcher, ExecutorBlocks group) {
    this.path = path;
    this.fetcher = fetcher;
    this.group = group;
    this.deadlineNanos = path.deadlineNanos();
  }

  ExecutorBlocks group() {
    return group;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  /** Leaves all blocks to Spark, as they are not located. */
  @Override
  public void leave(FallbackReason reason) {
    if (reason == FallbackReason.LATE) {
      leaveLate();
      return;
    }
    BitSet all = new BitSet();
    all.set(0, group.size());
    group.leave(all);
  }

  /** Returns 0, as nothing is READ yet. */
  @Override
  public int bytes() {
    return 0;
  }

  /** Returns at most the task's limit, so that a large group passes when nothing else is late. */
  @Override
  public long estimatedBytes() {
    return Math.min(group.estimatedBytes(), fetcher.task().bytes());
  }

  /** Returns true if the READ of partition tables is late. */
  @Override
  public boolean isLate() {
    return tables != null && tables.overtake();
  }

  /**
   * Starts to locate the blocks.
   *
   * @return false if they are too large, or if it is known already that they cannot be READ
   */
  boolean start() {
    // Estimated sizes are right only on average. A block that proves too large comes last, after a
    // wait.
    if (group.meanBytes() > maxMemberBytes(false) / 2) {
      return false;
    }
    String executorId = group.address().executorId();
    String peerId = path.sparkTransfer().node(executorId).map(PeerAddress::id).orElse(executorId);
    if (path.lateReads().avoids(peerId, () -> path.sparkTransfer().peer(group.address()))) {
      fetcher.requireOpen();
      leaveLate();
      if (path.lateReads().takesProbe(peerId)) {
        path.locator()
            .locate(executorId, group, true, deadlineNanos, TableReads.UNTIMED)
            .whenComplete(this::probe);
      }
      return true;
    }
    long tableBytes = Math.min((long) group.size() * TABLE_BYTES, Integer.MAX_VALUE);
    tables = path.lateReads().new Read(peerId, (int) tableBytes);
    CompletableFuture<LocatedBlocks> locating =
        path.locator().locate(executorId, group, true, deadlineNanos, tables);
    if (locating.state() == Future.State.SUCCESS && !locating.resultNow().hasPeer()) {
      return false;
    }
    fetcher.begin(this);
    locating.whenComplete(this::divide);
    return true;
  }

  /**
   * Leaves all blocks to Spark, as READs from their peer are late. Blocks whose estimated size is
   * too large for a batch may still be READ.
   */
  private void leaveLate() {
    BitSet large = new BitSet();
    BitSet small = new BitSet();
    int most = maxMemberBytes(false);
    for (int member = 0; member < group.size(); member++) {
      (group.estimatedBytes(member) > most ? large : small).set(member);
    }
    group.leave(large);
    group.leaveLate(small);
  }

  /** READs the first batch, whose blocks are left to Spark. */
  private void probe(LocatedBlocks found, Throwable failure) {
    try {
      spans(found, failure).stream()
          .findFirst()
          .ifPresent(span -> new ProbeRead(path, fetcher.task(), span).start());
    } catch (Throwable e) {
      fetcher.failed(this, e);
    }
  }

  private List<Span> spans(LocatedBlocks found, Throwable failure) {
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    leaveUnfit(found, IntStream.range(0, group.size()), 0);
    List<Span> spans = Span.registered(found, maxBatchBytes(), false);
    spans.addAll(stagedSpans(found, 0, group.size()));
    return spans;
  }

  private void divide(LocatedBlocks found, Throwable failure) {
    requireNonNull(tables).close();
    List<TaskBatchRead> batches;
    try {
      batches = batches(spans(found, failure));
    } catch (Throwable e) {
      fetcher.failed(this, e);
      return;
    }
    fetcher.located(this, batches);
  }

  /**
   * Returns batches of the blocks that did not fit into a staged one.
   *
   * @param asked the blocks that were wanted
   * @param there the blocks that are there
   */
  List<TaskBatchRead> rest(Span asked, Span there) {
    leaveUnfit(asked.located(), asked.all().stream(), there.to());
    return batches(stagedSpans(asked.located(), there.to(), asked.to()));
  }

  private List<Span> stagedSpans(LocatedBlocks located, int from, int to) {
    int maxBytes = Math.min(maxBatchBytes(), path.options().maxStagedBytes());
    return Span.staged(located, from, to, maxBytes, maxMemberBytes(true));
  }

  private List<TaskBatchRead> batches(List<Span> spans) {
    List<TaskBatchRead> batches = new ArrayList<>();
    for (Span span : spans) {
      batches.add(new TaskBatchRead(path, fetcher, this, span));
    }
    return batches;
  }

  /** Returns the largest size of a member in bytes. Two members fit into the largest buffer. */
  private int maxMemberBytes(boolean isStaged) {
    int half = path.transport().maxBufferBytes() / 2;
    long most = Math.min(half, Math.max(1, fetcher.task().bytes() / MIN_BATCHES));
    long staged = (long) MAX_STAGED_PARTS * path.options().maxStagedBytes();
    return (int) (isStaged ? Math.min(most, staged) : most);
  }

  /** Returns the largest size in bytes of a batch of several members. */
  private int maxBatchBytes() {
    long part = Math.max(1, fetcher.task().part() / MIN_BATCHES);
    return (int) Math.min(Math.min(path.maxGroupBytes(), maxMemberBytes(false)), part);
  }

  /**
   * Leaves members to Spark that are large, or cannot be READ or verified here.
   *
   * @param from first member that has not come, and may be too large
   */
  private void leaveUnfit(LocatedBlocks located, IntStream members, int from) {
    BitSet unfit = new BitSet();
    BitSet stale = new BitSet();
    members.forEach(
        member -> {
          FallbackReason reason = located.failure(member);
          stale.set(member, reason == FallbackReason.STALE_LOCATION);
          unfit.set(member, reason != null || (member >= from && isTooLarge(located, member)));
        });
    group.leave(unfit);
    unfit.stream().forEach(located::leaveOut);
    path.locator().forget(located, stale);
  }

  private boolean isTooLarge(LocatedBlocks located, int member) {
    return located.isKnown(member)
        && located.length(member) > maxMemberBytes(located.isStaged(member));
  }

  @Override
  public String toString() {
    return group.size() + " blocks of " + group.address();
  }
}
