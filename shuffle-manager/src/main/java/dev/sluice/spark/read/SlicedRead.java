package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.rdma.transfer.ReadRange;
import dev.sluice.spark.metrics.FallbackReason;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
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

  private final ReadPath path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final Deque<LocatedBlock> waiting;
  private final PartialBlock.Destination destination;
  private final FallbackReason unstorable;
  private ReadTransport.Buffer buffer;
  private LocatedBlock current;
  private PartialBlock partial;
  private boolean again;

  private SlicedRead(
      ReadPath path,
      FetchCall call,
      ReadAttempt attempt,
      List<LocatedBlock> blocks,
      PartialBlock.Destination destination,
      FallbackReason unstorable) {
    this.path = path;
    this.call = call;
    this.attempt = attempt;
    this.waiting = new ArrayDeque<>(blocks);
    this.destination = destination;
    this.unstorable = unstorable;
  }

  /** READs into the call's download files. */
  static SlicedRead toDisk(
      ReadPath path, FetchCall call, ReadAttempt attempt, List<LocatedBlock> blocks) {
    boolean verify = path.options().verifyChecksums();
    return new SlicedRead(
        path,
        call,
        attempt,
        blocks,
        block -> new PartialDownload(call.files(), path.transportConf(), block, verify),
        FallbackReason.DISK);
  }

  /**
   * READs blocks that no buffer of the pool takes. As much memory as Spark's own transfer takes for
   * them, and bounded as that is: spark.reducer.maxSizeInFlight, or one block.
   */
  static SlicedRead toMemory(
      ReadPath path, FetchCall call, ReadAttempt attempt, List<LocatedBlock> blocks) {
    boolean verify = path.options().verifyChecksums();
    return new SlicedRead(
        path,
        call,
        attempt,
        blocks,
        block -> new PartialMemory(block, verify),
        FallbackReason.BUFFERS);
  }

  void start() {
    long longest = waiting.stream().mapToLong(LocatedBlock::length).max().orElseThrow();
    int bytes = (int) Math.min(longest, path.maxGroupBytes());
    long deadlineNanos = path.bufferDeadlineNanos(call.deadlineNanos());
    path.transport().acquire(bytes, deadlineNanos, this::acquired);
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      call.fallBack(remaining(), FallbackReason.BUFFERS);
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
    LOG.debug("{} blocks were not READ in slices", waiting.size() + 1, e);
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
            LOG.warn("Could not store what was READ from {}", attempt.peer(), e);
            stop(unstorable);
          }
        });
  }

  private void nextBlock() throws IOException {
    again = false;
    do {
      current = waiting.poll();
    } while (current != null && !current.block().isPending());
    if (current == null) {
      releaseBuffer();
      path.transport().touch(attempt.peer(), attempt.shuffleId());
    } else {
      beginBlock();
    }
  }

  private void beginBlock() throws IOException {
    partial = destination.begin(current);
    readSlice();
  }

  private void readSlice() {
    long position = partial.position();
    ReadRange slice = new ReadRange(current.address() + position, sliceBytes(), current.dataKey());
    path.transport().read(attempt.peer(), List.of(slice), buffer, call.deadlineNanos(), this);
  }

  private int sliceBytes() {
    return (int) Math.min(buffer.segment().byteSize(), current.length() - partial.position());
  }

  private void store() throws IOException {
    if (!current.block().isPending()) {
      partial.abort();
      nextBlock();
      return;
    }
    partial.append(buffer.segment().asSlice(0, sliceBytes()));
    call.extendDeadline();
    if (partial.position() < current.length()) {
      readSlice();
    } else {
      finishBlock();
    }
  }

  private void finishBlock() throws IOException {
    if (partial.matches()) {
      partial.finish(call);
      nextBlock();
      return;
    }
    partial.abort();
    path.counters().corrupt(1);
    LOG.warn(
        "Block {} READ in slices from {} does not match the checksum it was written with; {}",
        current.block(),
        attempt.peer(),
        again ? "Spark's own transfer has to fetch it" : "it is READ again");
    if (again) {
      call.fallBack(List.of(current.block()), FallbackReason.CHECKSUM);
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
    attempt.failed(remaining(), reason);
  }

  private void releaseBuffer() {
    if (buffer != null) {
      buffer.release();
      buffer = null;
    }
  }

  private List<RequestedBlock> remaining() {
    return Stream.concat(Stream.ofNullable(current), waiting.stream())
        .map(LocatedBlock::block)
        .toList();
  }

  private interface Step {
    void run() throws IOException;
  }
}
