// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.FileRange;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs bytes of one peer's map outputs into a buffer, back to back. The peer stages all bytes that
 * it has not registered, in one request. Staged bytes are valid for the time of a lease. This side
 * measures that time from its own request, so no clocks are compared. Bytes whose READ ends after
 * the lease are discarded and requested again.
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
    /** Called when all bytes are in the buffer. */
    void arrived();

    void failed(FallbackReason reason);
  }

  private final FetchContext path;
  private final PeerAddress peer;
  private final int shuffleId;
  private final List<FileRange> ranges;
  private final ReadTransport.Buffer target;
  private final int offset;
  private final long deadlineNanos;
  private final Sink sink;
  private long stagedBytes;
  private int attempts;
  private long askedNanos;

  /** The last lease; null if all bytes are registered. */
  private @Nullable Staged staged;

  /** True while the peer holds the last lease for this. */
  private boolean leased;

  /** True once the sink has its answer; a later failure is a defect of the sink and only logged. */
  private boolean answered;

  /**
   * @param ranges ranges of located map outputs
   * @param offset of the first byte in the target
   * @param sink may get its answer within {@link #start}
   */
  DataRead(
      FetchContext path,
      LocatedBlocks located,
      List<FileRange> ranges,
      ReadTransport.Buffer target,
      int offset,
      long deadlineNanos,
      Sink sink) {
    this.path = path;
    this.peer = located.peer();
    this.shuffleId = located.blocks().shuffleId();
    this.ranges = ranges;
    this.target = target;
    this.offset = offset;
    this.deadlineNanos = deadlineNanos;
    this.sink = sink;
    for (FileRange range : ranges) {
      stagedBytes += range.isStaged() ? range.length() : 0;
    }
  }

  void start() {
    guard(
        () -> {
          if (stagedBytes > 0) {
            ask();
          } else {
            read();
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

  private Stream<FileRange> staged() {
    return ranges.stream().filter(FileRange::isStaged);
  }

  private void read() {
    path.transport().read(peer, regions(), target, offset, deadlineNanos, this);
  }

  private void ask() {
    attempts++;
    askedNanos = path.timer().nanoTime();
    long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - askedNanos);
    if (leftMs <= 0) {
      failed(FallbackReason.DEADLINE);
      return;
    }
    int timeLeftMs = (int) Math.min(leftMs, Integer.MAX_VALUE);
    Stage request = new Stage(shuffleId, timeLeftMs, staged().map(FileRange::piece).toList());
    path.transport()
        .stage(peer, request)
        .whenComplete((answer, failure) -> guard(() -> answered(answer, failure)));
  }

  private void answered(@Nullable Object answer, @Nullable Throwable failure) {
    switch (answer) {
      case Staged lease -> granted(lease);
      case NotStaged not -> {
        LOG.debug("{} did not stage: {}", peer, not.reason());
        failed(not.stale() ? FallbackReason.STALE_LOCATION : FallbackReason.STAGING);
      }
      case null, default -> {
        LOG.debug(
            "Asking {} to stage failed, or the answer is not a lease: {}", peer, answer, failure);
        failed(FallbackReason.STAGING);
      }
    }
  }

  private void granted(Staged lease) {
    staged = lease;
    leased = true;
    if (isPlausible(lease)) {
      read();
    } else {
      LOG.warn(
          "The answer of {} to a staging request of {} bytes is not usable: {}",
          peer,
          stagedBytes,
          lease);
      failed(FallbackReason.STAGING);
    }
  }

  /** Returns true if the lease fits the request and can be verified. Others are not READ. */
  private boolean isPlausible(Staged lease) {
    return lease.region().length() == stagedBytes
        && lease.tookNanos() >= 0
        && lease.leaseNanos() > 0
        && (lease.crc32c() != Staged.NO_CHECKSUM || staged().allMatch(FileRange::hasChecksums));
  }

  /** Returns the regions in the order of the ranges. */
  private List<RemoteRegion> regions() {
    List<RemoteRegion> regions = new ArrayList<>();
    for (FileRange range : staged == null ? ranges : readable(staged)) {
      regions.add(range.region());
    }
    return regions;
  }

  /** Replaces staged ranges by their copies, which adjoin like one registered map output. */
  private List<FileRange> readable(Staged lease) {
    MapOutputHeader copy = new MapOutputHeader(0, lease.region(), ChecksumAlgorithm.NONE);
    List<FileRange> readable = new ArrayList<>();
    long position = 0;
    for (FileRange range : ranges) {
      if (range.isStaged()) {
        FileRange.add(readable, new FileRange(copy, false, position, range.length()));
        position += range.length();
      } else {
        FileRange.add(readable, range);
      }
    }
    return readable;
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
    MemorySegment bytes = target.segment();
    long at = offset;
    for (FileRange range : ranges) {
      if (range.isStaged()) {
        crc.update(bytes.asSlice(at, range.length()).asByteBuffer());
      }
      at += range.length();
    }
    if (crc.getValue() == crc32c) {
      arrived();
    } else {
      path.counters().add(ShuffleCounter.CORRUPTIONS, 1);
      LOG.warn(
          "{} staged bytes READ from {} do not match the checksum of its copy", stagedBytes, peer);
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
    sink.arrived();
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
      path.transport().done(peer, staged.leaseId());
    }
  }

  @Override
  public String toString() {
    return ranges.size() + " extents of " + peer;
  }
}
