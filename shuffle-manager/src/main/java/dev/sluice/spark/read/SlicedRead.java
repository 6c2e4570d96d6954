package dev.sluice.spark.read;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.metrics.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs blocks of any size, into Spark's download files or into memory of their own, one block
 * after the other, through two pooled buffers: a slice is verified and stored while the next one is
 * READ. What happens is handled in steps, one at a time, on delivery threads. Owns the buffers and
 * the block under way; a request of several gigabytes stays within its deadline as long as there is
 * progress.
 */
final class SlicedRead {
  private static final Logger LOG = LoggerFactory.getLogger(SlicedRead.class);

  private static final int NONE = -1;

  private final ReadPath path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final LocatedBlocks located;
  private final BlockVerifier verifier;
  private final PartialBlock.Destination destination;
  private final FallbackReason unstorable;
  private final int bufferBytes;

  private final Steps steps;

  /** Blocks that have no answer yet, the current one included. */
  private final BitSet remaining;

  private final Deque<ReadTransport.Buffer> free = new ArrayDeque<>();

  /** In the order of their bytes. */
  private final Deque<Slice> underWay = new ArrayDeque<>();

  private int current = NONE;
  private PartialBlock partial;

  /** Where the current block's next slice begins. */
  private long position;

  private boolean again;

  /** Whether a second buffer was asked for. */
  private boolean second;

  private boolean ended;

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
    long longest = blocks.stream().mapToLong(located::length).max().orElseThrow();
    this.bufferBytes = (int) Math.min(longest, path.maxGroupBytes());
    this.steps = new Steps(path.deliverer(), this::notStored);
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
    acquire();
  }

  private void acquire() {
    path.transport()
        .acquire(
            bufferBytes,
            path.bufferDeadlineNanos(call.deadlineNanos()),
            buffer -> steps.add(() -> acquired(buffer)));
  }

  /** Where there is no second buffer slices are READ one after the other. */
  private void acquired(ReadTransport.Buffer buffer) throws IOException {
    if (buffer == null) {
      if (current == NONE) {
        stop(FallbackReason.BUFFERS);
      }
      return;
    }
    free.add(buffer);
    if (ended) {
      releaseBuffers();
    } else if (current == NONE) {
      nextBlock();
    } else {
      readSlices();
    }
  }

  /** Spark's own transfer tries what is left: if it is the disk that fails, it says so as Spark. */
  private void notStored(Throwable e) {
    LOG.warn("Could not store what was READ from {}", located.peer(), e);
    stop(unstorable);
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
      ended = true;
      releaseBuffers();
      path.transport().touch(located.peer(), located.blocks().shuffleId());
    } else {
      beginBlock();
    }
  }

  private void beginBlock() throws IOException {
    partial = destination.begin(attempt.block(current), located.length(current));
    verifier.begin(current);
    position = 0;
    readSlices();
    if (position < located.length(current) && !second) {
      second = true;
      acquire();
    }
  }

  /** As many as there are buffers. */
  private void readSlices() {
    while (position < located.length(current) && !free.isEmpty()) {
      int bytes = (int) Math.min(bufferBytes, located.length(current) - position);
      RemoteRegion range = located.range(current, position, bytes);
      Slice slice = new Slice(free.poll(), bytes);
      underWay.add(slice);
      slice.read(range);
      position += bytes;
    }
  }

  /** A part of the current block, in a buffer of its own. */
  private final class Slice implements ReadListener {
    private final ReadTransport.Buffer buffer;
    private final int bytes;
    private boolean arrived;

    Slice(ReadTransport.Buffer buffer, int bytes) {
      this.buffer = buffer;
      this.bytes = bytes;
    }

    void read(RemoteRegion range) {
      try {
        path.transport().read(located.peer(), List.of(range), buffer, call.deadlineNanos(), this);
      } catch (RuntimeException | Error e) {
        free();
        throw e;
      }
    }

    @Override
    public void onSuccess() {
      call.extendDeadline();
      steps.add(
          () -> {
            arrived = true;
            storeArrived();
          });
    }

    @Override
    public void onFailure(ReadException e) {
      LOG.debug("{} blocks were not READ in slices", remaining.cardinality(), e);
      steps.add(
          () -> {
            free();
            stop(Failures.reason(e));
          });
    }

    /** Nothing is written into the buffer any more. */
    void free() {
      underWay.remove(this);
      free.add(buffer);
      if (ended) {
        releaseBuffers();
      }
    }
  }

  private void storeArrived() throws IOException {
    while (!underWay.isEmpty() && underWay.peek().arrived) {
      Slice slice = underWay.peek();
      slice.free();
      if (!ended) {
        store(slice);
      }
    }
  }

  private void store(Slice slice) throws IOException {
    if (attempt.block(current).isPending()) {
      MemorySegment bytes = slice.buffer.segment().asSlice(0, slice.bytes);
      verifier.update(bytes.asByteBuffer());
      partial.append(bytes);
    } else {
      position = located.length(current); // Nobody waits for the rest.
    }
    readSlices();
    if (underWay.isEmpty()) {
      endBlock();
    }
  }

  private void endBlock() throws IOException {
    if (partial.position() < located.length(current)) {
      partial.abort();
      nextBlock();
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

  /** READs that are under way give back their buffers when they end. */
  private void stop(FallbackReason reason) {
    if (ended) {
      return;
    }
    ended = true;
    underWay.removeIf(slice -> slice.arrived && free.add(slice.buffer));
    releaseBuffers();
    try {
      if (partial != null) {
        partial.abort();
      }
    } finally {
      attempt.guard(remaining, () -> attempt.failed(remaining, reason));
    }
  }

  private void releaseBuffers() {
    free.forEach(ReadTransport.Buffer::release);
    free.clear();
  }
}
