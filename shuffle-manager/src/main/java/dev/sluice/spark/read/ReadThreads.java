package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of an executor's reading side, whatever the number of peers, tasks and blocks: a few
 * that verify and deliver, one for deadlines, and virtual ones for calls of Spark's client that
 * block while they connect, so that a peer that cannot be reached holds up nobody else's blocks.
 * {@link RdmaBlockStoreClient} ends them.
 *
 * @param blocking runs what may block
 * @param end steps under way end; what comes later runs on its caller's thread; does not wait
 */
record ReadThreads(DeadlineTimer timer, Executor deliverer, Executor blocking, Runnable end) {
  /** A core computes Spark's checksums of some 2 GB/s. */
  private static final int DELIVERERS =
      Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 2, 8);

  static ReadThreads start() {
    ExecutorService deliverer = deliverers();
    ExecutorService blocking =
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual()
                .name("sluice-fallback-", 0)
                .inheritInheritableThreadLocals(false)
                .factory());
    Deadlines deadlines =
        new Deadlines(
            new ScheduledThreadPoolExecutor(1, DaemonThreads.numbered("sluice-deadline-")));
    deadlines.thread().setRemoveOnCancelPolicy(true);
    return new ReadThreads(
        deadlines,
        deliverer,
        blocking,
        () -> {
          deliverer.shutdown();
          blocking.shutdown();
          deadlines.thread().shutdownNow();
        });
  }

  /** What comes once its threads are gone runs on its caller's: it has to be answered. */
  private static ExecutorService deliverers() {
    return new ThreadPoolExecutor(
        DELIVERERS,
        DELIVERERS,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        DaemonThreads.numbered("sluice-deliver-"),
        (step, _) -> step.run());
  }

  private record Deadlines(ScheduledThreadPoolExecutor thread) implements DeadlineTimer {
    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public Future<?> schedule(Runnable task, long delayNanos) {
      return thread.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    }
  }
}
