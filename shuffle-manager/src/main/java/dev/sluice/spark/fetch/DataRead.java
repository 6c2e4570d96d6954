// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.LocatedBlocks.Span;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a span of one peer's blocks into a buffer, back to back. If the peer has not registered
 * them, it stages as many of them as fit, and tells their lengths. Staged bytes are valid for the
 * time of a lease. This side measures that time from its own request, so no clocks are compared.
 * Bytes whose READ ends after the lease are discarded and requested again.
 *
 * <p>{@link BatchRead} and {@link BlockSlices} make it. Each step runs on the thread that ended the
 * step before: the caller's, the transport's, the completion thread, or a delivery thread that
 * computes a checksum. None blocks, and no two run at once, so plain fields suffice. The caller
 * owns the buffer and keeps it until the sink has its answer.
 */
final class DataRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(DataRead.class);

  /**
   * Number of requests for bytes that come too late or differ; each has the peer copy them anew.
   */
  private static final int ATTEMPTS = 3;

  /** Gets one answer. */
  interface Sink {
    /**
     * Returns false if the lengths, which are known now, make the bytes useless.
     *
     * @param there as in {@link #arrived}
     */
    default boolean wants(Span there) {
      return true;
    }

    /**
     * Called when bytes are in the buffer.
     *
     * @param there the blocks that are there, from the first one on, with their bytes; a single
     *     block may be there in part. No bytes if they are not wanted, or if no block fits
     */
    void arrived(Span there);

    void failed(FallbackReason reason);
  }

  /**
   * Place of the bytes.
   *
   * @param position bytes of a single block that are left out
   * @param bytes limit of the bytes
   * @param offset of the first byte in the target
   */
  record Place(Span span, long position, int bytes, ReadTransport.Buffer target, int offset) {}

  private final FetchContext path;
  private final LocatedBlocks located;
  private final Place place;
  private final long deadlineNanos;
  private final Sink sink;
  private int attempts;
  private long askedNanos;

  /** The blocks that are READ. */
  private Span there;

  /** The last answer, perhaps without a lease; null if the blocks are registered. */
  private @Nullable Staged staged;

  /** True while the peer holds the last lease for this. */
  private boolean leased;

  /** True once the sink has its answer; a later failure is a defect of the sink and only logged. */
  private boolean answered;

  /**
   * @param sink may get its answer within {@link #start}
   */
  DataRead(FetchContext path, LocatedBlocks located, Place place, long deadlineNanos, Sink sink) {
    this.path = path;
    this.located = located;
    this.place = place;
    this.deadlineNanos = deadlineNanos;
    this.sink = sink;
    this.there = place.span();
  }

  void start() {
    guard(
        () -> {
          if (place.span().isStaged()) {
            ask();
          } else {
            read(located.regions(place.span(), place.position(), place.bytes()));
          }
        });
  }

  /** Runs a step. If the step throws, which is a defect, the sink still gets its answer. */
  private void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("Reading {} failed unexpectedly", this, e);
      failed(FallbackReason.TRANSPORT);
    }
  }

  private void read(List<RemoteRegion> regions) {
    path.transport()
        .read(located.peer(), regions, place.target(), place.offset(), deadlineNanos, this);
  }

  private void ask() {
    attempts++;
    askedNanos = path.timer().nanoTime();
    long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - askedNanos);
    if (leftMs <= 0) {
      failed(FallbackReason.DEADLINE);
      return;
    }
    Stage request =
        new Stage(
            located.blocks().shuffleId(),
            (int) Math.min(leftMs, Integer.MAX_VALUE),
            located.wanted(place.span()),
            place.position(),
            place.bytes());
    path.transport()
        .stage(located.peer(), request)
        .whenComplete((answer, failure) -> guard(() -> answered(request, answer, failure)));
  }

  private void answered(Stage request, @Nullable Object answer, @Nullable Throwable failure) {
    switch (answer) {
      case Staged granted -> granted(request, granted);
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

  private void granted(Stage request, Staged lease) {
    staged = lease;
    leased = lease.region().length() > 0;
    Span copied = located.take(place.span(), request, lease);
    FallbackReason reason = place.span().isSingle() ? located.failure(place.span().from()) : null;
    if (reason != null) {
      failed(reason);
      return;
    }
    if (copied == null || !isPlausible(copied, lease)) {
      LOG.warn(
          "The answer of {} to a staging request of {} bytes is not usable: {}",
          located.peer(),
          request.maxBytes(),
          lease);
      failed(FallbackReason.STAGING);
      return;
    }
    if (leased && sink.wants(copied)) {
      there = copied;
      read(List.of(lease.region()));
    } else {
      there = new Span(copied.from(), leased ? copied.from() : copied.to(), 0, true);
      arrived();
    }
  }

  /** Returns true if the copy fits the request and can be verified. Others are not READ. */
  private boolean isPlausible(Span copied, Staged lease) {
    return copied.bytes() <= place.bytes()
        && lease.tookNanos() >= 0
        && lease.leaseNanos() > 0
        && (lease.crc32c() != Staged.NO_CHECKSUM
            || located.read(copied).stream().allMatch(located::hasChecksums));
  }

  @Override
  public void onSuccess() {
    guard(this::wasRead);
  }

  private void wasRead() {
    Staged lease = staged;
    if (lease == null) {
      arrived();
    } else if (isLate(lease)) {
      path.counters().add(ShuffleCounter.STAGED_LATE, 1);
      again(FallbackReason.STAGING);
    } else if (lease.crc32c() == Staged.NO_CHECKSUM) {
      arrived();
    } else {
      path.deliverer().execute(() -> guard(() -> verify(lease.crc32c())));
    }
  }

  private boolean isLate(Staged lease) {
    long usableNanos = ControlMessages.usable(lease.leaseNanos());
    return path.timer().nanoTime() - askedNanos - lease.tookNanos() - usableNanos >= 0;
  }

  /**
   * Verifies the staged bytes by the CRC32C that the peer computed while copying. The peer sends a
   * CRC32C if some of them have no checksum of Spark's.
   */
  private void verify(long crc32c) {
    Checksum crc = ChecksumAlgorithm.CRC32C.newChecksum();
    crc.update(place.target().segment().asSlice(place.offset(), there.bytes()).asByteBuffer());
    if (crc.getValue() == crc32c) {
      arrived();
    } else {
      path.counters().add(ShuffleCounter.CORRUPTIONS, 1);
      LOG.warn(
          "{} staged bytes READ from {} do not match the checksum of its copy",
          there.bytes(),
          located.peer());
      again(FallbackReason.CHECKSUM);
    }
  }

  private void again(FallbackReason reason) {
    giveBack();
    if (attempts < ATTEMPTS) {
      ask();
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
   * Ends the lease and answers. Spark's own checksums are verified later, perhaps when the task
   * reads the bytes. No lease would last until then.
   */
  private void arrived() {
    giveBack();
    answered = true;
    sink.arrived(there);
  }

  private void failed(FallbackReason reason) {
    giveBack();
    if (!answered) {
      answered = true;
      sink.failed(reason);
    }
  }

  /** Ends the lease: the bytes are here, or no longer wanted. Has an effect once per lease. */
  private void giveBack() {
    if (leased && staged != null) {
      leased = false;
      path.transport().done(located.peer(), staged.leaseId());
    }
  }

  @Override
  public String toString() {
    return place.bytes() + " bytes of " + located.peer();
  }
}
