package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LazyRuntimeTest {
  private final AtomicInteger starts = new AtomicInteger();

  @Test
  void nothingStartsBeforeItIsNeeded() {
    LazyRuntime runtime = new LazyRuntime(this::fail);
    assertThat(runtime.ifStarted()).isNull();
    runtime.close();
    assertThat(starts).hasValue(0);
  }

  @Test
  void theReasonOfAFailureIsToldToEachCaller() {
    LazyRuntime runtime = new LazyRuntime(this::fail);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(runtime::get)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("no device")
          .hasCauseInstanceOf(IOException.class);
    }
    assertThat(starts).hasValue(1);
    assertThat(runtime.ifStarted()).isNull();
    runtime.close();
  }

  @Test
  void nothingStartsAfterTheEnd() {
    LazyRuntime runtime = new LazyRuntime(this::fail);
    runtime.close();
    assertThatThrownBy(runtime::get).hasMessage("the executor stops");
    assertThat(starts).hasValue(0);
  }

  @Test
  void aKilledTaskDoesNotInterruptTheStart() throws InterruptedException {
    CountDownLatch starting = new CountDownLatch(1);
    CountDownLatch killed = new CountDownLatch(1);
    LazyRuntime runtime =
        new LazyRuntime(
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

  private SluiceRuntime fail() throws IOException {
    starts.incrementAndGet();
    throw new IOException("no device");
  }
}
