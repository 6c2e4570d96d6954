// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * READs those blocks of a {@link FetchCall} that were located together. Blocks with a stale
 * location are located again, once. They are then READ per map output, as one of several may still
 * be stale. After any other failure, Spark's own transport fetches them. {@link FetchCall} starts
 * it. Each step runs on the thread that finished the step before, and none blocks. Between steps no
 * thread is held. Each step must be guarded, so that its blocks get an answer if it throws.
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
   * Locates the blocks, and READs each part as soon as it is located.
   *
   * @param asked blocks of one shuffle
   * @param relocated true for the second attempt, after stale locations
   */
  static void start(
      FetchContext path, FetchCall call, List<RequestedBlock> asked, boolean relocated) {
    RequestedBlocks blocks = new RequestedBlocks(asked);
    path.locate(call.target().executorId(), blocks, false, call.deadlineNanos())
        .whenComplete(
            (parts, failure) ->
                call.guard(
                    asked,
                    () ->
                        succeeded(parts, failure)
                            .forEach(
                                part ->
                                    new ReadAttempt(path, call, blocks, relocated, part.blocks())
                                        .readWhen(part.found()))));
  }

  private static <T> T succeeded(T result, @Nullable Throwable failure) {
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    return result;
  }

  private void readWhen(CompletableFuture<Void> found) {
    BitSet all = located.members();
    found.whenComplete(
        (_, failure) ->
            guard(
                all,
                () -> {
                  succeeded(found, failure);
                  read();
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
    Map<FallbackReason, BitSet> failures = new EnumMap<>(FallbackReason.class);
    BitSet large = new BitSet();
    located.members().stream()
        .forEach(
            block -> {
              FallbackReason reason = failure(block);
              if (reason != null) {
                failures.computeIfAbsent(reason, _ -> new BitSet()).set(block);
                located.leaveOut(block);
              } else if (call.files() != null
                  || located.length(block) > path.maxBlockBytes(located, block)) {
                large.set(block);
                located.leaveOut(block);
              }
            });
    failures.forEach((reason, which) -> failed(which, reason));
    for (LocatedBlocks.Span span : path.spans(located, path.maxGroupBytes(), relocated)) {
      new ClientBatchRead(path, this, span, false).start();
    }
    if (!large.isEmpty()) {
      new LargeBlockRead(path, this, large).start();
    }
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
}
