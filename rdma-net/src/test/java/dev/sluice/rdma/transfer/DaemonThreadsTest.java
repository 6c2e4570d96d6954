// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.FewThreads;
import dev.sluice.rdma.transfer.DaemonThreads.EnsuredPool;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DaemonThreadsTest {

  /** A jar given by --jars is not on the system class path. */
  @ParameterizedTest
  @ValueSource(strings = {"named", "numbered"})
  void threadsHaveTheClassLoaderOfTheJar(String factory) throws Exception {
    URL jar = DaemonThreads.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader())) {
      Class<?> threads = loader.loadClass(DaemonThreads.class.getName());
      Object made = threads.getMethod(factory, String.class).invoke(null, "sluice-test");
      Thread thread = ((ThreadFactory) made).newThread(() -> {});
      assertThat(thread.getContextClassLoader()).isSameAs(loader);
    }
  }

  @Test
  void blockingStepsHaveTheClassLoaderOfTheJar() throws Exception {
    URL jar = DaemonThreads.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader())) {
      Class<?> threads = loader.loadClass(DaemonThreads.class.getName());
      ExecutorService steps = (ExecutorService) threads.getMethod("blocking").invoke(null);
      assertThat(steps.submit(() -> Thread.currentThread().getContextClassLoader()).get())
          .isSameAs(loader);
      steps.shutdown();
    }
  }

  /** Virtual threads before JDK 24 would all be stopped by them. */
  @Test
  void aStepRunsWhileManyOthersWaitForAMonitor() throws Exception {
    int others = Runtime.getRuntime().availableProcessors() + 1;
    CountDownLatch begun = new CountDownLatch(others);
    CountDownLatch ran = new CountDownLatch(1);
    Object monitor = new Object();
    ExecutorService steps = DaemonThreads.blocking();
    synchronized (monitor) {
      for (int i = 0; i < others; i++) {
        steps.execute(
            () -> {
              begun.countDown();
              synchronized (monitor) {
                assertThat(Thread.holdsLock(monitor)).isTrue();
              }
            });
      }
      assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
      steps.execute(ran::countDown);
      assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(DaemonThreads.stop(steps, 10_000)).isTrue();
  }

  /** The system gives one thread and no more. */
  @Test
  void aTaskWaitsForARunningThreadWhereNoFurtherOneCanBeStarted() throws Exception {
    ThreadPoolExecutor pool = DaemonThreads.atMost(2, FewThreads.ofPool(1));
    CountDownLatch mayEnd = new CountDownLatch(1);
    CountDownLatch ran = new CountDownLatch(1);
    pool.execute(() -> await(mayEnd));
    pool.execute(ran::countDown);
    mayEnd.countDown();
    assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(DaemonThreads.stop(pool, 10_000)).isTrue();
  }

  @Test
  void aTaskIsRefusedWhereNoThreadCanBeStarted() {
    ThreadPoolExecutor pool = DaemonThreads.atMost(2, FewThreads.ofPool(0));
    assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(OutOfMemoryError.class);
    assertThat(pool.getQueue()).isEmpty();
    assertThat(DaemonThreads.stop(pool, 10_000)).isTrue();
  }

  @Test
  void anEnsuredTaskRunsOnItsCallerWhereNoThreadCanBeStarted() {
    EnsuredPool threads = new EnsuredPool(2, FewThreads.ofPool(0));
    AtomicInteger ran = new AtomicInteger();
    threads.execute(ran::incrementAndGet);
    assertThat(threads.stop(10_000)).isTrue();
    threads.execute(ran::incrementAndGet);
    assertThat(ran).hasValue(2);
  }

  /** It waits for a running thread, so that its caller does not. */
  @Test
  void anEnsuredTaskRunsWhereNoFurtherThreadCanBeStarted() {
    EnsuredPool threads = new EnsuredPool(2, FewThreads.ofPool(1));
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicInteger ran = new AtomicInteger();
    threads.execute(() -> await(mayEnd));
    threads.execute(ran::incrementAndGet);
    mayEnd.countDown();
    assertThat(threads.stop(10_000)).isTrue();
    assertThat(ran).hasValue(1);
  }

  /** The device is closed afterwards. */
  @Test
  void tasksThatRunOnTheirCallersAreWaitedFor() throws Exception {
    EnsuredPool threads = new EnsuredPool(2, FewThreads.ofPool(0));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    Thread caller =
        Thread.ofPlatform()
            .start(
                () ->
                    threads.execute(
                        () -> {
                          begun.countDown();
                          await(mayEnd);
                        }));
    begun.await();
    assertThat(threads.stop(1)).isFalse();
    mayEnd.countDown();
    caller.join();
    assertThat(threads.stop(10_000)).isTrue();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void threadsKeepNoProcessAlive() {
    assertThat(DaemonThreads.named("sluice-test").newThread(() -> {}).isDaemon()).isTrue();
  }
}
