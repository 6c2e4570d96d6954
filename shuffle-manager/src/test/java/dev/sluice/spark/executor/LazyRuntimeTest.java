// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LazyRuntimeTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final AtomicInteger starts = new AtomicInteger();
  private final AtomicInteger instead = new AtomicInteger();
  private final AtomicInteger told = new AtomicInteger();

  @Test
  void nothingStartsBeforeItIsNeeded() {
    LazyRuntime runtime = runtime(this::fail);
    assertThat(runtime.ifStarted()).isEmpty();
    runtime.close();
    assertThat(starts).hasValue(0);
  }

  @Test
  void theReasonOfAFailureIsToldToEachCaller() {
    LazyRuntime runtime = runtime(this::fail);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(runtime::get)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("no device")
          .hasRootCauseInstanceOf(IOException.class);
    }
    assertThat(starts).hasValue(1);
    runtime.close(); // after the driver was told
    assertThat(runtime.ifStarted()).isEmpty();
    runtime.close();
  }

  @Test
  void itStartsWithoutATaskThatWaitsForIt() {
    LazyRuntime runtime = runtime(this::fail);
    assertThat(runtime.begin())
        .failsWithin(DEADLINE)
        .withThrowableThat()
        .havingRootCause()
        .withMessage("no device");
    assertThatThrownBy(runtime::get).hasMessage("no device");
    assertThat(starts).hasValue(1);
  }

  @Test
  void nothingStartsAfterTheEnd() {
    LazyRuntime runtime = runtime(this::fail);
    runtime.close();
    assertThatThrownBy(runtime::get).hasMessage("the executor is stopping");
    assertThat(starts).hasValue(0);
  }

  @Test
  void aKilledTaskDoesNotInterruptTheStart() throws InterruptedException {
    CountDownLatch starting = new CountDownLatch(1);
    CountDownLatch killed = new CountDownLatch(1);
    LazyRuntime runtime =
        runtime(
            () -> {
              starting.countDown();
              killed.await();
              return fail();
            });
    Thread task =
        Thread.ofPlatform()
            .start(() -> assertThatThrownBy(runtime::get).hasMessageContaining("interrupted"));
    starting.await();
    task.interrupt();
    task.join();
    killed.countDown();
    assertThatThrownBy(runtime::get).hasMessage("no device");
  }

  @Test
  void tasksHaveSomethingElseWhereTheStartHangs() throws InterruptedException {
    CountDownLatch released = new CountDownLatch(1);
    LazyRuntime runtime =
        new LazyRuntime(
            starter(
                () -> {
                  released.await();
                  return fail();
                }),
            10);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(runtime::get).hasMessage("the start took longer than 10 ms");
    }
    released.countDown();
    runtime.close();
    assertThat(instead).hasValue(1);
  }

  private LazyRuntime runtime(Callable<SluiceRuntime> start) {
    return new LazyRuntime(starter(start), 60_000);
  }

  private LazyRuntime.Starter starter(Callable<SluiceRuntime> start) {
    return new LazyRuntime.Starter() {
      @Override
      public SluiceRuntime start() throws Exception {
        return start.call();
      }

      @Override
      public SluiceRuntime startWithout(Throwable cause) {
        instead.incrementAndGet();
        throw new IllegalStateException(cause.getMessage(), cause);
      }

      @Override
      public void started(SluiceRuntime runtime) {
        throw new AssertionError("no runtime was started");
      }

      @Override
      public void failed(Throwable reason) {
        told.incrementAndGet();
      }
    };
  }

  private SluiceRuntime fail() throws IOException {
    starts.incrementAndGet();
    throw new IOException("no device");
  }
}
