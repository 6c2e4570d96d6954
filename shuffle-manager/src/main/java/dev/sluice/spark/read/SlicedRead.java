package dev.sluice.spark.read;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.metrics.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs blocks of any size, into Spark's download files or into memory of their own, one block
 * after the other, through one pooled buffer: a slice is READ, verified and stored before the next
 * one is READ. Stores on a delivery thread. Owns the buffer and the block under way; a request of
 * several gigabytes stays within its deadline as long as there is progress.
 */
final class SlicedRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(SlicedRead.class);

  private static final int NONE = -1;

  private final ReadPath path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final LocatedBlocks located;
  private final BlockVerifier verifier;
  private final PartialBlock.Destination destination;
  private final FallbackReason unstorable;

  /** Blocks that have no answer yet, the current one included. */
  private final BitSet remaining;

  private ReadTransport.Buffer buffer;
  private int current = NONE;
  private PartialBlock partial;
  private boolean again;

  private SlicedRead(
      ReadPath path,
      ReadAttempt attempt,
      BitSet blocks,
      PartialBlock.Destination destination,
      FallbackReason unstorable) {
    this.path = path;
    this.call = attempt.call();
    this.attempt = attempt;
    this.located = attempt.located();
    this.verifier = new BlockVerifier(located, path.options().verifyChecksums());
    this.remaining = (BitSet) blocks.clone();
    this.destination = destination;
    this.unstorable = unstorable;
  }

  /**
   * READs into the call's download files, where it has some; else into memory, as much as Spark's
   * own transfer takes for blocks that no buffer of the pool takes, and bounded as that is:
   * spark.reducer.maxSizeInFlight, or one block.
   */
  static SlicedRead of(ReadPath path, ReadAttempt attempt, BitSet blocks) {
    DownloadFileManager files = attempt.call().files();
    return files == null
        ? new SlicedRead(
            path,
            attempt,
            blocks,
            (block, length) -> new PartialMemory(path.parked(), block, length),
            FallbackReason.BUFFERS)
        : new SlicedRead(
            path,
            attempt,
            blocks,
            (block, _) -> new PartialDownload(files, path.transportConf(), block),
            FallbackReason.DISK);
  }

  void start() {
    long longest = remaining.stream().mapToLong(located::length).max().orElseThrow();
    int bytes = (int) Math.min(longest, path.maxGroupBytes());
    long deadlineNanos = path.bufferDeadlineNanos(call.deadlineNanos());
    path.transport().acquire(bytes, deadlineNanos, this::acquired);
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      attempt.failed(remaining, FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    step(this::nextBlock);
  }

  @Override
  public void onSuccess() {
    step(this::store);
  }

  @Override
  public void onFailure(ReadException e) {
    LOG.debug("{} blocks were not READ in slices", remaining.cardinality(), e);
    path.deliver(() -> stop(Failures.reason(e)));
  }

  /**
   * Runs a step that may find no room for a block. Spark's own transfer then tries the blocks that
   * are left: if it is the disk that fails, it says so as Spark does.
   */
  private void step(Step step) {
    path.deliver(
        () -> {
          try {
            step.run();
          } catch (IOException | RuntimeException e) {
            LOG.warn("Could not store what was READ from {}", located.peer(), e);
            stop(unstorable);
          }
        });
  }

  private void nextBlock() throws IOException {
    again = false;
    do {
      if (current != NONE) {
        remaining.clear(current);
      }
      current = remaining.nextSetBit(0);
    } while (current != NONE && !attempt.block(current).isPending());
    if (current == NONE) {
      releaseBuffer();
      path.transport().touch(located.peer(), located.blocks().shuffleId());
    } else {
      beginBlock();
    }
  }

  private void beginBlock() throws IOException {
    partial = destination.begin(attempt.block(current), located.length(current));
    verifier.begin(current);
    readSlice();
  }

  private void readSlice() {
    RemoteRegion slice = located.range(current, partial.position(), sliceBytes());
    path.transport().read(located.peer(), List.of(slice), buffer, call.deadlineNanos(), this);
  }

  private int sliceBytes() {
    return (int)
        Math.min(buffer.segment().byteSize(), located.length(current) - partial.position());
  }

  private void store() throws IOException {
    if (!attempt.block(current).isPending()) {
      partial.abort();
      nextBlock();
      return;
    }
    MemorySegment slice = buffer.segment().asSlice(0, sliceBytes());
    verifier.update(slice.asByteBuffer());
    partial.append(slice);
    call.extendDeadline();
    if (partial.position() < located.length(current)) {
      readSlice();
    } else {
      finishBlock();
    }
  }

  private void finishBlock() throws IOException {
    if (verifier.matches()) {
      partial.finish(call);
      nextBlock();
      return;
    }
    partial.abort();
    path.counters().corrupt(1);
    LOG.warn(
        "Block {} READ in slices from {} does not match the checksum it was written with; {}",
        attempt.block(current),
        located.peer(),
        again ? "Spark's own transfer has to fetch it" : "it is READ again");
    if (again) {
      call.fallBack(List.of(attempt.block(current)), FallbackReason.CHECKSUM);
      nextBlock();
    } else {
      again = true;
      beginBlock();
    }
  }

  private void stop(FallbackReason reason) {
    releaseBuffer();
    if (partial != null) {
      partial.abort();
    }
    attempt.failed(remaining, reason);
  }

  private void releaseBuffer() {
    if (buffer != null) {
      buffer.release();
      buffer = null;
    }
  }

  private interface Step {
    void run() throws IOException;
  }
}
