// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.transport.FallbackReason;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches a span of one peer's blocks into one pooled buffer, back to back, in the steps of its
 * {@link State}. If the peer has to stage the blocks, it stages as many of them as fit, and tells
 * their lengths. A single block that is larger than one staging request comes part by part. Staged
 * bytes are valid for the time of a lease. This side measures that time from its own request, so no
 * clocks are compared. Bytes whose READ ends after the lease are discarded and requested again.
 *
 * <p>{@link TaskBatchRead}, {@link ReadAttempt} and {@link LargeBlockRead} make it. Each step runs
 * on the thread that ended the step before: the caller's, the transport's, the completion thread,
 * or a delivery thread that computes a checksum or evaluates a large answer. None blocks, and no
 * two run at once, so plain fields suffice. The permit belongs to this until the sink has it.
 */
final class RangeFetch implements FetchBudget.Waiter, ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(RangeFetch.class);

  /**
   * Number of requests for bytes that come too late or differ; each has the peer copy them anew.
   */
  private static final int ATTEMPTS = 3;

  /**
   * Evaluating more partitions than this takes milliseconds. Others are evaluated at once: a
   * delivery thread may wait for a disk, and the lease goes on.
   */
  private static final int MANY_PARTITIONS = 1 << 14;

  /** Step of a fetch. Registered blocks are neither staged nor verified here. */
  private enum State {
    /** A permit is acquired, or the caller has one. */
    ACQUIRE,
    /** The peer copies blocks. */
    STAGE,
    READ,
    /** A delivery thread compares the bytes with the checksum that the peer computed. */
    VERIFY,
    /** The sink has its answer, or waits for none. A later failure is only logged. */
    DONE
  }

  /**
   * Gets one answer: {@link #arrived} or {@link #failed}, or {@link #dropped} once it no longer
   * waits. A permit that is refused for that reason has no answer.
   */
  interface Sink {
    /**
     * Returns true if the bytes are still wanted. Called when a part of the permit, or of the
     * bytes, is there.
     */
    boolean awaits();

    /**
     * Called before a READ starts: once for each part, and for each time that it is READ.
     *
     * @return false if the bytes are not wanted any more
     */
    default boolean readBegins() {
      return true;
    }

    /**
     * Called when a READ has ended, before the bytes are verified.
     *
     * @param bytes bytes that have come; 0 if the READ failed
     */
    default void readEnded(int bytes) {}

    /**
     * Takes the permit with the bytes in its buffer, which the sink has to close.
     *
     * @param there the blocks that are there, from the first one of the span on, with their bytes,
     *     and failed ones among them. No bytes if no block fits
     */
    void arrived(Permit permit, Span there);

    void failed(FallbackReason reason);

    /** Called when bytes are dropped, as they are not wanted any more. */
    default void dropped() {}
  }

  private final FetchContext path;
  private final FetchBudget.Request request;
  private final LocatedBlocks located;
  private final Span span;
  private final Sink sink;
  private State state = State.ACQUIRE;

  /** Null before it was acquired. */
  private @Nullable Permit permit;

  /** Bytes of a single block that are left out. */
  private long position;

  /** Bytes that are in the buffer already; only a single block comes in more than one part. */
  private int done;

  /** Requests to stage the current part. */
  private int attempts;

  private long askedNanos;

  /** The blocks that are READ, with the bytes of the current part. */
  private Span part;

  /** Lease that the peer holds for this; null for none. */
  private @Nullable Staged lease;

  /**
   * @param request request of the task that wants the bytes
   * @param span the blocks, or bytes of a single one
   * @param sink may get its answer within {@link #start}
   */
  RangeFetch(FetchContext path, FetchBudget.Request request, Span span, Sink sink) {
    this.path = path;
    this.request = request;
    this.located = span.located();
    this.span = span;
    this.sink = sink;
    this.part = span;
  }

  /** Acquires a permit, and fetches the span. */
  void start() {
    path.budget().acquire(request, located.peer(), span.bytes(), span.isStaged(), this);
  }

  /**
   * Fetches bytes of a single block whose length is known.
   *
   * @param acquired a permit that the caller has
   * @param from number of the block's bytes before them
   */
  void start(Permit acquired, long from) {
    position = from;
    acquired(acquired);
  }

  /** Runs a step. If the step throws, which is a defect, the sink still gets its answer. */
  private void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("Fetching {} failed unexpectedly in state {}", this, state, e);
      failed(FallbackReason.TRANSPORT);
    }
  }

  @Override
  public boolean awaits() {
    return sink.awaits();
  }

  @Override
  public void acquired(Permit acquired) {
    permit = acquired;
    guard(this::fetch);
  }

  /** Fetches the first or the next part. */
  private void fetch() {
    attempts = 0;
    if (span.isStaged()) {
      stage();
    } else {
      read(span.regions(position, span.bytes()));
    }
  }

  private void stage() {
    state = State.STAGE;
    attempts++;
    askedNanos = path.timer().nanoTime();
    long leftMs = TimeUnit.NANOSECONDS.toMillis(request.deadlineNanos() - askedNanos);
    if (leftMs <= 0) {
      failed(FallbackReason.DEADLINE);
      return;
    }
    Stage asked =
        new Stage(
            located.blocks().shuffleId(),
            (int) Math.min(leftMs, Integer.MAX_VALUE),
            span.wanted(),
            position + done,
            Math.min(span.bytes() - done, path.options().maxStagedBytes()));
    // The transport's thread serves other peers as well. A further part has one entry.
    boolean isLarge = asked.position() == 0 && asked.partitions() > MANY_PARTITIONS;
    Executor evaluator = isLarge ? path.deliverer() : Runnable::run;
    path.transport()
        .stage(located.peer(), asked)
        .whenCompleteAsync(
            (answer, failure) -> guard(() -> answered(asked, answer, failure)), evaluator);
  }

  private void answered(Stage asked, @Nullable Object answer, @Nullable Throwable failure) {
    switch (answer) {
      case Staged granted -> granted(asked, granted);
      case NotStaged not -> {
        LOG.debug("{} did not stage: {}", located.peer(), not.reason());
        failed(not.stale() ? FallbackReason.STALE_LOCATION : FallbackReason.STAGING);
      }
      case null, default -> {
        LOG.debug(
            "Asking {} to stage failed, or the answer is not a lease: {}",
            located.peer(),
            answer,
            failure);
        failed(FallbackReason.STAGING);
      }
    }
  }

  private void granted(Stage asked, Staged answer) {
    lease = answer.region().length() > 0 ? answer : null;
    if (!sink.awaits()) {
      drop();
      return;
    }
    boolean wasKnown = located.isKnown(span.from());
    Span copied = span.take(asked, answer);
    FallbackReason reason = span.isSingle() ? located.failure(span.from()) : null;
    if (reason != null) {
      failed(reason);
      return;
    }
    if (copied == null || !isPlausible(copied, answer)) {
      LOG.warn(
          "The answer of {} to a staging request of {} bytes is not usable: {}",
          located.peer(),
          asked.maxBytes(),
          answer);
      failed(FallbackReason.STAGING);
      return;
    }
    // A part of a block that proves larger than the buffer is useless.
    boolean fits = wasKnown || !span.isSingle() || located.length(span.from()) <= span.bytes();
    if (lease != null && fits) {
      part = copied;
      read(List.of(answer.region()));
    } else {
      part = new Span(located, copied.from(), fits ? copied.to() : copied.from(), 0, true);
      arrived();
    }
  }

  /** Returns true if the copy can be verified before its end. Others are not READ. */
  private boolean isPlausible(Span copied, Staged answer) {
    return answer.tookNanos() >= 0
        && answer.leaseNanos() > 0
        && (answer.crc32c() != Staged.NO_CHECKSUM
            || copied.read().stream().allMatch(located::hasChecksums));
  }

  private void read(List<RemoteRegion> regions) {
    if (!sink.readBegins()) {
      drop();
      return;
    }
    state = State.READ;
    path.transport()
        .read(
            located.peer(),
            regions,
            requireNonNull(permit).buffer(),
            done,
            request.deadlineNanos(),
            this);
  }

  @Override
  public void onSuccess() {
    guard(this::wasRead);
  }

  private void wasRead() {
    sink.readEnded(part.bytes());
    Staged copy = lease;
    if (copy == null) {
      arrived();
    } else if (!sink.awaits()) {
      requireNonNull(permit).arrived();
      drop();
    } else if (isLate(copy)) {
      path.counters().add(ShuffleCounter.STAGED_LATE, 1);
      again(FallbackReason.STAGING);
    } else if (copy.crc32c() == Staged.NO_CHECKSUM) {
      arrived();
    } else {
      state = State.VERIFY;
      path.deliverer().execute(() -> guard(() -> verify(copy.crc32c())));
    }
  }

  /** Ends without an answer, as the bytes are not wanted any more. */
  private void drop() {
    giveBack();
    state = State.DONE;
    try {
      requireNonNull(permit).close();
    } finally {
      sink.dropped();
    }
  }

  private boolean isLate(Staged copy) {
    long usableNanos = ControlMessages.usable(copy.leaseNanos());
    return path.timer().nanoTime() - askedNanos - copy.tookNanos() - usableNanos >= 0;
  }

  /**
   * Verifies the staged bytes by the CRC32C that the peer computed while copying. The peer sends a
   * CRC32C if some of them have no checksum of Spark's.
   */
  private void verify(long crc32c) {
    Checksum crc = ChecksumAlgorithm.CRC32C.newChecksum();
    crc.update(
        requireNonNull(permit).buffer().segment().asSlice(done, part.bytes()).asByteBuffer());
    if (crc.getValue() == crc32c) {
      arrived();
    } else {
      path.counters().add(ShuffleCounter.CORRUPTIONS, 1);
      LOG.warn(
          "{} staged bytes READ from {} do not match the checksum of its copy",
          part.bytes(),
          located.peer());
      again(FallbackReason.CHECKSUM);
    }
  }

  private void again(FallbackReason reason) {
    giveBack();
    if (attempts < ATTEMPTS && sink.awaits()) {
      stage();
    } else {
      failed(reason);
    }
  }

  @Override
  public void onFailure(ReadException e) {
    LOG.debug("The READ of {} failed", this, e);
    guard(() -> failed(FallbackReason.of(e)));
  }

  /**
   * Ends the lease, and fetches the next part or answers. Spark's own checksums are verified later,
   * perhaps when the task reads the bytes. No lease would last until then.
   */
  private void arrived() {
    giveBack();
    done += part.bytes();
    if (!hasMore()) {
      Span there = new Span(located, part.from(), part.to(), done, span.isStaged());
      state = State.DONE;
      sink.arrived(requireNonNull(permit), there);
    } else if (sink.awaits()) {
      fetch();
    } else {
      drop();
    }
  }

  private boolean hasMore() {
    return part.bytes() > 0
        && span.isSingle()
        && done < Math.min(span.bytes(), located.length(span.from()) - position);
  }

  @Override
  public void failed(FallbackReason reason) {
    if (state != State.DONE) {
      if (state == State.READ) {
        sink.readEnded(0);
      }
      state = State.DONE;
      try {
        giveBack();
        if (permit != null) {
          permit.close();
        }
      } finally {
        sink.failed(reason);
      }
    }
  }

  /** Ends the lease: the bytes are here, or no longer wanted. Has an effect once per lease. */
  private void giveBack() {
    if (lease != null) {
      long leaseId = lease.leaseId();
      lease = null;
      path.transport().done(located.peer(), leaseId);
    }
  }

  @Override
  public String toString() {
    return span.bytes() + " bytes of " + located.peer();
  }
}
