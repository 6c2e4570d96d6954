// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.yarn.DirectoryThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A disk that hangs waits for {@link #answer}. */
@Timeout(60)
final class DirectoryThreadsTest {
  private static final Path GOOD = Path.of("/good");
  private static final Path HANGING = Path.of("/hanging");

  private final CountDownLatch answer = new CountDownLatch(1);
  private final AtomicInteger asked = new AtomicInteger();

  @AfterEach
  void end() {
    answer.countDown();
  }

  private boolean ask(Path directory) throws IOException {
    if (directory.equals(HANGING)) {
      asked.incrementAndGet();
      try {
        answer.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    return true;
  }

  @Test
  void theFirstDirectoryThatIsDoneIsEnough() {
    try (DirectoryThreads threads =
        new DirectoryThreads(List.of(HANGING, GOOD), Duration.ofSeconds(50))) {
      assertThat(threads.onEach("a test", this::ask)).isTrue();
      answer.countDown();
    }
  }

  @Test
  void aDirectoryThatHangsIsLeftAloneUntilItAnswers() throws Exception {
    try (LogCapture log = new LogCapture(DirectoryThreads.class, Level.WARN);
        DirectoryThreads threads = new DirectoryThreads(List.of(HANGING), Duration.ofMillis(100))) {
      for (int times = 0; times < 3; times++) {
        assertThat(threads.onEach("a test", this::ask)).isFalse();
        Thread.sleep(110);
      }
      assertThat(asked).hasValue(1);
      assertThat(log.messages()).hasSize(1).first().asString().startsWith("/hanging does not");
      answer.countDown();
      while (!threads.onEach("a test", this::ask)) {
        Thread.sleep(10);
      }
    }
  }

  @Test
  void whereNoDirectoryHasAnythingToDoTheCallerGoesOn() {
    try (DirectoryThreads threads = new DirectoryThreads(List.of(GOOD), Duration.ofSeconds(50));
        DirectoryThreads none = new DirectoryThreads(List.of(), Duration.ofSeconds(50))) {
      assertThat(threads.onEach("a test", directory -> false)).isFalse();
      assertThat(none.onEach("a test", directory -> true)).isFalse();
    }
  }

  @Test
  void aFailureIsLoggedOnceUntilTheDirectoryCanBeUsed() {
    try (LogCapture log = new LogCapture(DirectoryThreads.class, Level.WARN);
        DirectoryThreads threads = new DirectoryThreads(List.of(GOOD), Duration.ofSeconds(50))) {
      DirectoryThreads.Work failing =
          directory -> {
            throw new IOException("scripted");
          };
      assertThat(threads.onEach("a test", failing)).isFalse();
      assertThat(threads.onEach("a test", failing)).isFalse();
      assertThat(log.messages()).hasSize(1);
      assertThat(threads.onEach("a test", this::ask)).isTrue();
      assertThat(threads.onEach("a test", failing)).isFalse();
      assertThat(log.messages()).hasSize(2);
    }
  }

  @Test
  void closingWaitsForWorkThatWasAccepted() {
    AtomicInteger done = new AtomicInteger();
    DirectoryThreads threads = new DirectoryThreads(List.of(HANGING, GOOD), Duration.ofSeconds(50));
    threads.onEach("a test", this::ask);
    threads.onEach("a test", directory -> done.incrementAndGet() > 0);
    answer.countDown();
    threads.close();
    assertThat(done).hasValue(2);
  }
}
