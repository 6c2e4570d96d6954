package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the blocks that one executor has for a task from location to partition table, and lays them
 * out in chunks. Each step runs on the thread that finished the one before and none blocks. Answers
 * {@link TaskGather} exactly once, at the latest at the deadline.
 */
final class GroupGather {
  private static final Logger LOG = LoggerFactory.getLogger(GroupGather.class);

  private final ReadPath path;
  private final TaskGather task;
  private final BlockGroup group;
  private final long deadlineNanos;
  private final AtomicBoolean answered = new AtomicBoolean();
  private PeerAddress peer;
  private volatile Future<?> timeout;

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
    guard(
        () -> {
          timeout =
              path.timer()
                  .schedule(
                      () -> giveUp(FallbackReason.DEADLINE),
                      deadlineNanos - path.timer().nanoTime());
          locating.thenAccept(located -> guard(() -> located(located)));
        });
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
    if (claim()) {
      members.fill(pages, task.maxChunkBytes());
      task.located(peer, members);
    }
  }

  /** All blocks are left to Spark, whose way says and counts what is wrong. */
  private void giveUp(FallbackReason reason) {
    if (claim()) {
      LOG.debug("{} blocks of {} are not gathered: {}", group.size(), group.address(), reason);
      group.leave(0, group.size());
      task.gaveUp();
    }
  }

  private boolean claim() {
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    Future<?> scheduled = timeout;
    if (scheduled != null) {
      scheduled.cancel(false);
    }
    return true;
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
