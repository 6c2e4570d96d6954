// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sluice.rdma.FewThreads;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Steps of READs that must be run, as each block has to be answered. */
class ReadThreadsTest {
  private final AtomicInteger ran = new AtomicInteger();

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aStepRunsWhereNoFurtherThreadCanBeStarted(int threads) {
    ExecutorService deliverer = ReadThreads.deliverers(FewThreads.ofPool(threads));
    CountDownLatch mayEnd = new CountDownLatch(1);
    try {
      for (int thread = 0; thread < threads; thread++) {
        deliverer.execute(() -> await(mayEnd));
      }
      assertThatCode(() -> deliverer.execute(ran::incrementAndGet)).doesNotThrowAnyException();
      assertThat(ran).hasValue(1);
    } finally {
      mayEnd.countDown();
      deliverer.shutdown();
    }
  }

  @Test
  void aStepRunsAfterTheThreadsHaveEnded() {
    ExecutorService deliverer = ReadThreads.deliverers(Thread::new);
    deliverer.shutdown();
    deliverer.execute(ran::incrementAndGet);
    assertThat(ran).hasValue(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
