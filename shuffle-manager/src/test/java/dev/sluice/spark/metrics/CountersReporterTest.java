package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CountersReporterTest {
  private final ShuffleCounters counters = new ShuffleCounters();
  private final BlockingQueue<Report> sent = new LinkedBlockingQueue<>();
  private final AtomicLong nanos = new AtomicLong();
  private final Semaphore looks = new Semaphore(0);
  private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
  private final CountersReporter reporter =
      new CountersReporter(
          "1", "soft a", new ExecutorMetrics(counters), this::answer, scheduler, this::clock);

  @AfterEach
  void stop() {
    scheduler.shutdownNow();
  }

  @Test
  void manyTasksHaveOneReport() throws InterruptedException {
    counters.read(2, 20);
    counters.fallback(FallbackReason.CONNECT, 1);
    reporter.changed();
    reporter.changed();
    later(Duration.ofMillis(200));
    assertThat(next().counters())
        .containsEntry("read.blocks", 2L)
        .containsEntry("read.bytes", 20L)
        .containsEntry("fallback.blocks.CONNECT", 1L)
        .containsEntry("fallback.bytes.CONNECT", 0L);
    scheduler.close();
    assertThat(sent).isEmpty();
  }

  @Test
  void aReportWaitsUntilTasksHaveCeased() throws InterruptedException {
    reporter.changed();
    later(Duration.ofMillis(199));
    counters.read(3, 30);
    reporter.changed();
    awaitLook();
    later(Duration.ofMillis(199));
    awaitLook();
    assertThat(sent).isEmpty();
    later(Duration.ofMillis(1));
    assertThat(next().counters()).containsEntry("read.blocks", 3L);
  }

  @Test
  void tasksThatNeverCeaseAreReportedAllTheSame() throws InterruptedException {
    reporter.changed();
    later(Duration.ofSeconds(10));
    counters.read(4, 40);
    reporter.changed();
    assertThat(next().counters()).containsEntry("read.blocks", 4L);
  }

  @Test
  void theNextTaskHasAReportOfItsOwn() throws InterruptedException {
    reporter.changed();
    later(Duration.ofMillis(200));
    long first = next().sequence();
    counters.read(5, 50);
    reporter.changed();
    later(Duration.ofMillis(200));
    Report second = next();
    assertThat(second.counters()).containsEntry("read.blocks", 5L);
    assertThat(second.sequence()).isGreaterThan(first);
  }

  private void later(Duration duration) {
    nanos.addAndGet(duration.toNanos());
  }

  /** The reporter has read the clock twice: once more than a look that began before. */
  private void awaitLook() throws InterruptedException {
    looks.drainPermits();
    assertThat(looks.tryAcquire(2, 20, TimeUnit.SECONDS)).isTrue();
  }

  private Report next() throws InterruptedException {
    Report report = sent.poll(20, TimeUnit.SECONDS);
    assertThat(report).as("a report").isNotNull();
    return report;
  }

  private long clock() {
    looks.release();
    return nanos.get();
  }

  private DirectoryMessage answer(DirectoryMessage message) {
    sent.add((Report) message);
    return new Ack();
  }
}
