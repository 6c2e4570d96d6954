package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a group of blocks into one pooled buffer, verifies each and hands it to Spark. A block
 * whose bytes are not those that were written is READ once more, alone. Verifies and delivers on a
 * delivery thread; owns a reference to the buffer from when it gets one until that is done.
 */
final class GroupRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(GroupRead.class);

  private final ReadPath path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final ReadGroup group;
  private final List<RequestedBlock> blocks;
  private final boolean again;
  private ReadTransport.Buffer buffer;

  /**
   * @param again whether the group is READ again because its bytes were wrong
   */
  GroupRead(ReadPath path, FetchCall call, ReadAttempt attempt, ReadGroup group, boolean again) {
    this.path = path;
    this.call = call;
    this.attempt = attempt;
    this.group = group;
    this.blocks = group.blocks().stream().map(LocatedBlock::block).toList();
    this.again = again;
  }

  void start() {
    long deadlineNanos = path.bufferDeadlineNanos(call.deadlineNanos());
    path.transport().acquire(group.bytes(), deadlineNanos, this::acquired);
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      call.fallBack(blocks, FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    if (blocks.stream().noneMatch(RequestedBlock::isPending)) {
      buffer.release();
      return;
    }
    path.transport().read(attempt.peer(), group.ranges(), buffer, call.deadlineNanos(), this);
  }

  @Override
  public void onSuccess() {
    path.deliver(() -> call.guard(blocks, this::deliver));
  }

  @Override
  public void onFailure(ReadException e) {
    LOG.debug("{} blocks were not READ", blocks.size(), e);
    buffer.release();
    path.deliver(() -> call.guard(blocks, () -> attempt.failed(blocks, Failures.reason(e))));
  }

  private void deliver() {
    try {
      long offset = 0;
      for (LocatedBlock located : group.blocks()) {
        deliver(located, offset);
        offset += located.length();
      }
    } finally {
      buffer.release();
    }
    path.transport().touch(attempt.peer(), attempt.shuffleId());
  }

  private void deliver(LocatedBlock located, long offset) {
    if (!located.block().isPending()) {
      return;
    }
    PartitionVerifier verifier = new PartitionVerifier(located, path.options().verifyChecksums());
    verifier.update(buffer.segment().asSlice(offset, located.length()));
    if (verifier.matches()) {
      call.deliver(located.block(), new RdmaManagedBuffer(buffer, offset, located.length()));
    } else {
      mismatched(located);
    }
  }

  private void mismatched(LocatedBlock located) {
    path.counters().corrupt(1);
    LOG.warn(
        "Block {} READ from {} does not match the checksum it was written with; {}",
        located.block(),
        attempt.peer(),
        again ? "Spark's own transfer has to fetch it" : "it is READ again");
    if (again) {
      call.fallBack(List.of(located.block()), FallbackReason.CHECKSUM);
    } else {
      ReadGroup alone = ReadGroup.of(List.of(located));
      new GroupRead(path, call, attempt, alone, true).start();
    }
  }
}
