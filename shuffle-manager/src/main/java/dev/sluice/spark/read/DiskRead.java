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
 * READs blocks of any size into Spark's download files, one block after the other, through one
 * pooled buffer: a slice is READ, verified and written before the next one is READ. Writes on a
 * delivery thread. Owns the buffer and the file under way; a request of several gigabytes stays
 * within its deadline as long as there is progress.
 */
final class DiskRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(DiskRead.class);

  private final ReadPath path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final Deque<LocatedBlock> waiting;
  private ReadTransport.Buffer buffer;
  private LocatedBlock current;
  private PartialDownload download;
  private boolean again;

  DiskRead(ReadPath path, FetchCall call, ReadAttempt attempt, List<LocatedBlock> blocks) {
    this.path = path;
    this.call = call;
    this.attempt = attempt;
    this.waiting = new ArrayDeque<>(blocks);
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
    step(this::write);
  }

  @Override
  public void onFailure(ReadException e) {
    LOG.debug("{} blocks were not READ to disk", waiting.size() + 1, e);
    path.deliver(() -> stop(Failures.reason(e)));
  }

  /**
   * Runs a step that touches files. Should that fail, Spark's own transfer tries the blocks that
   * are left: if it is the disk that fails, it says so as Spark does.
   */
  private void step(DiskStep step) {
    path.deliver(
        () -> {
          try {
            step.run();
          } catch (IOException | RuntimeException e) {
            LOG.warn("Could not READ to disk from {}", attempt.peer(), e);
            stop(FallbackReason.DISK);
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
    download =
        new PartialDownload(
            call.files(), path.transportConf(), current, path.options().verifyChecksums());
    readSlice();
  }

  private void readSlice() {
    long position = download.position();
    ReadRange slice = new ReadRange(current.address() + position, sliceBytes(), current.dataKey());
    path.transport().read(attempt.peer(), List.of(slice), buffer, call.deadlineNanos(), this);
  }

  private int sliceBytes() {
    return (int) Math.min(buffer.segment().byteSize(), current.length() - download.position());
  }

  private void write() throws IOException {
    if (!current.block().isPending()) {
      download.abort();
      nextBlock();
      return;
    }
    download.append(buffer.segment().asSlice(0, sliceBytes()));
    call.extendDeadline();
    if (download.position() < current.length()) {
      readSlice();
    } else {
      finishBlock();
    }
  }

  private void finishBlock() throws IOException {
    if (download.matches()) {
      download.finish(call);
      nextBlock();
      return;
    }
    download.abort();
    path.counters().corrupt(1);
    LOG.warn(
        "Block {} READ to disk from {} does not match the checksum it was written with; {}",
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
    if (download != null) {
      download.abort();
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

  private interface DiskStep {
    void run() throws IOException;
  }
}
