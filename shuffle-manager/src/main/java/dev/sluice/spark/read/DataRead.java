package dev.sluice.spark.read;

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
import dev.sluice.spark.table.Extent;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs bytes of one peer's map outputs into a buffer, back to back. What the peer has not
 * registered it is asked to stage, all of it at once; those bytes stay for the time of a lease,
 * which is this side's from the moment of asking: no clocks are compared. What was READ after that
 * is thrown away and asked for again.
 *
 * <p>Each step runs on the thread that ended the one before and none blocks. The buffer is the
 * caller's, who keeps it until the sink has its answer.
 */
final class DataRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(DataRead.class);

  /** Times that bytes are asked for that came too late, or were not what the peer had copied. */
  private static final int ATTEMPTS = 3;

  /** Gets one answer. */
  interface Sink {
    /** All bytes are there. */
    void arrived();

    void failed(FallbackReason reason);
  }

  private final ReadPath path;
  private final PeerAddress peer;
  private final int shuffleId;
  private final List<Extent> extents;
  private final ReadTransport.Buffer target;
  private final int offset;
  private final long deadlineNanos;
  private final Sink sink;
  private long stagedBytes;
  private int attempts;
  private long askedNanos;

  /** What was leased last; null where all is registered. */
  private Staged staged;

  private boolean leased;
  private boolean answered;

  /**
   * @param extents of map outputs that were located
   * @param offset of the first byte in the target
   * @param sink is answered by {@link #start} perhaps
   */
  DataRead(
      ReadPath path,
      LocatedBlocks located,
      List<Extent> extents,
      ReadTransport.Buffer target,
      int offset,
      long deadlineNanos,
      Sink sink) {
    this.path = path;
    this.peer = located.peer();
    this.shuffleId = located.blocks().shuffleId();
    this.extents = extents;
    this.target = target;
    this.offset = offset;
    this.deadlineNanos = deadlineNanos;
    this.sink = sink;
    for (Extent extent : extents) {
      stagedBytes += extent.isStaged() ? extent.length() : 0;
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

  /** Runs a step; should it fail by a defect, the sink still gets its answer. */
  private void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.error("Reading {} failed unexpectedly", this, e);
      failed(FallbackReason.TRANSPORT);
    }
  }

  private Stream<Extent> staged() {
    return extents.stream().filter(Extent::isStaged);
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
    Stage request = new Stage(shuffleId, timeLeftMs, staged().map(Extent::piece).toList());
    path.transport()
        .stage(peer, request)
        .whenComplete((answer, failure) -> guard(() -> answered(answer, failure)));
  }

  private void answered(Object answer, Throwable failure) {
    switch (answer) {
      case Staged lease -> granted(lease);
      case NotStaged not -> {
        LOG.debug("{} did not stage: {}", peer, not.reason());
        failed(not.stale() ? FallbackReason.STALE_LOCATION : FallbackReason.STAGING);
      }
      case null, default -> {
        LOG.debug("{} was not asked to stage, or answers {}", peer, answer, failure);
        failed(FallbackReason.STAGING);
      }
    }
  }

  private void granted(Staged lease) {
    staged = lease;
    leased = true;
    if (isPlausible()) {
      read();
    } else {
      LOG.warn("{} was asked for {} bytes and answers {}", peer, stagedBytes, lease);
      failed(FallbackReason.STAGING);
    }
  }

  /** Nothing is READ that nobody could verify. */
  private boolean isPlausible() {
    return staged.region().length() == stagedBytes
        && staged.tookNanos() >= 0
        && staged.leaseNanos() > 0
        && (staged.crc32c() != Staged.NO_CHECKSUM || staged().allMatch(Extent::hasChecksums));
  }

  /** In the order of the extents. */
  private List<RemoteRegion> regions() {
    List<RemoteRegion> regions = new ArrayList<>();
    for (Extent extent : staged == null ? extents : readable()) {
      regions.add(extent.region());
    }
    return regions;
  }

  /** What is staged lies side by side, as if it were of one map output that is registered. */
  private List<Extent> readable() {
    MapOutputHeader copy = new MapOutputHeader(0, staged.region(), ChecksumAlgorithm.NONE);
    List<Extent> readable = new ArrayList<>();
    long position = 0;
    for (Extent extent : extents) {
      if (extent.isStaged()) {
        Extent.add(readable, new Extent(copy, false, position, extent.length()));
        position += extent.length();
      } else {
        Extent.add(readable, extent);
      }
    }
    return readable;
  }

  @Override
  public void onSuccess() {
    guard(this::wasRead);
  }

  private void wasRead() {
    if (staged == null) {
      arrived();
    } else if (isLate()) {
      path.counters().lateLease();
      again(FallbackReason.STAGING);
    } else if (staged.crc32c() == Staged.NO_CHECKSUM) {
      arrived();
    } else {
      path.deliverer().execute(() -> guard(this::verify));
    }
  }

  private boolean isLate() {
    long usableNanos = ControlMessages.usable(staged.leaseNanos());
    return path.timer().nanoTime() - askedNanos - staged.tookNanos() - usableNanos >= 0;
  }

  /** What has no checksum of Spark's has one that was taken while it was copied. */
  private void verify() {
    CRC32C crc = new CRC32C();
    MemorySegment bytes = target.segment();
    long at = offset;
    for (Extent extent : extents) {
      if (extent.isStaged()) {
        crc.update(bytes.asSlice(at, extent.length()).asByteBuffer());
      }
      at += extent.length();
    }
    if (crc.getValue() == staged.crc32c()) {
      arrived();
    } else {
      path.counters().corrupt(1);
      LOG.warn("{} bytes READ from {} are not those that it had copied", stagedBytes, peer);
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
    LOG.debug("{} was not READ", this, e);
    guard(() -> failed(FallbackReason.of(e)));
  }

  /**
   * Spark's own checksums are compared later, perhaps when a task comes to the bytes: no lease
   * would last until then.
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

  /** The bytes are here, or not wanted any more. Once for each lease. */
  private void giveBack() {
    if (leased) {
      leased = false;
      path.transport().done(peer, staged.leaseId());
    }
  }

  @Override
  public String toString() {
    return extents.size() + " extents of " + peer;
  }
}
