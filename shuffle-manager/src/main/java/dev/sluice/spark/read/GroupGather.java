package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the blocks that one executor has for a task from location to partition table, and lays them
 * out in chunks. Each part runs on the thread that finished the one before and none blocks. Answers
 * {@link TaskGather}, unless that has given it up.
 */
final class GroupGather implements TaskGather.Step {
  private static final Logger LOG = LoggerFactory.getLogger(GroupGather.class);

  private final ReadPath path;
  private final TaskGather task;
  private final BlockGroup group;
  private final long deadlineNanos;
  private PeerAddress peer;

  GroupGather(ReadPath path, TaskGather task, BlockGroup group) {
    this.path = path;
    this.task = task;
    this.group = group;
    this.deadlineNanos = path.deadlineNanos();
  }

  /**
   * @param locating the answer to come
   */
  void start(CompletableFuture<Located> locating) {
    guard(() -> locating.thenAccept(located -> guard(() -> located(located))));
  }

  private void located(Located located) {
    if (located.peer() == null) {
      giveUp(FallbackReason.PEER);
      return;
    }
    peer = located.peer();
    LocatedGroup members = new LocatedGroup(group, located.outputs());
    Set<PageKey> pages = members.pages();
    if (pages.isEmpty()) {
      giveUp(FallbackReason.NOT_REGISTERED);
      return;
    }
    path.tables()
        .lookup(
            peer,
            pages,
            deadlineNanos,
            path.bufferDeadlineNanos(deadlineNanos),
            found -> guard(() -> layOut(members, found)));
  }

  private void layOut(LocatedGroup members, TablePages pages) {
    members.fill(pages, task.maxMemberBytes());
    task.located(this, peer, members);
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public void leave() {
    group.leave(0, group.size());
  }

  /** Nothing is READ yet. */
  @Override
  public int bytes() {
    return 0;
  }

  private void giveUp(FallbackReason reason) {
    task.giveUp(this, reason);
  }

  @Override
  public String toString() {
    return group.size() + " blocks of " + group.address();
  }

  private void guard(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      LOG.error("Gathering from {} failed unexpectedly", group.address(), e);
      giveUp(FallbackReason.TRANSPORT);
    }
  }
}
