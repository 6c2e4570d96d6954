// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.location;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DirectoryMessage.Published;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PublisherTest {
  private static final ExecutorEndpoint ENDPOINT = Samples.endpoint("1");

  private final BlockingQueue<Publish> sent = new LinkedBlockingQueue<>();
  private final Semaphore answers = new Semaphore(0);
  private final AtomicInteger failures = new AtomicInteger();
  private volatile IntPredicate moreExpected = _ -> false;
  private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
  private final Publisher publisher =
      new Publisher(this::driver, shuffleId -> moreExpected.test(shuffleId), threads);

  @AfterEach
  void close() {
    publisher.close();
    threads.shutdownNow();
  }

  @Test
  void makesTheExecutorKnownBeforeItHasAnything() throws InterruptedException {
    publisher.start(ENDPOINT);
    assertThat(next()).isEqualTo(new Publish(ENDPOINT, List.of()));
  }

  @Test
  void sendsLocationsThatCameDuringTheWaitInOneBatch() throws InterruptedException {
    publisher.start(ENDPOINT);
    next();
    publisher.registered(3, location(1));
    publisher.withdrawn(3);
    publisher.registered(4, location(2));
    answers.release(100);

    List<Published> outputs = new ArrayList<>();
    while (outputs.size() < 3) {
      outputs.addAll(next().outputs());
    }

    assertThat(outputs)
        .containsExactly(
            new Published(3, location(1)), new Published(3, null), new Published(4, location(2)));
  }

  @Test
  void waitsForTheOutputsOfTasksThatAreWriting() throws InterruptedException {
    BlockingQueue<Integer> later = new LinkedBlockingQueue<>(List.of(2, 3, 4));
    moreExpected =
        _ -> {
          Integer written = later.poll();
          if (written != null) {
            publisher.registered(3, location(written));
          }
          return written != null;
        };
    answers.release(100);
    publisher.start(ENDPOINT);
    next();

    publisher.registered(3, location(1));

    assertThat(next().outputs())
        .containsExactly(
            new Published(3, location(1)),
            new Published(3, location(2)),
            new Published(3, location(3)),
            new Published(3, location(4)));
  }

  @Test
  void waitsForNothingMoreWhereReduceTasksBegin() throws InterruptedException {
    moreExpected =
        _ -> {
          throw new IllegalStateException("nobody asks");
        };
    publisher.start(ENDPOINT);
    next();
    publisher.flush();
    publisher.registered(3, location(1));
    publisher.flush();
    publisher.registered(4, location(2));
    CompletableFuture<Void> known = publisher.flush();
    answers.release(100);

    assertThat(next().outputs())
        .containsExactly(new Published(3, location(1)), new Published(4, location(2)));
    assertThat(known).succeedsWithin(Duration.ofSeconds(20));
  }

  @Test
  void aFlushEndsTheWaitForTasksThatAreWriting() throws InterruptedException {
    moreExpected = _ -> true;
    answers.release(100);
    publisher.start(ENDPOINT);
    next();
    publisher.registered(3, location(1));

    assertThat(publisher.flush()).succeedsWithin(Duration.ofSeconds(20));

    assertThat(next().outputs()).containsExactly(new Published(3, location(1)));
    assertThat(publisher.flush()).as("with nothing to send").succeedsWithin(Duration.ofSeconds(20));
  }

  @Test
  void aFlushWaitsForAllMessagesThatItsChangesTake() throws InterruptedException {
    publisher.start(ENDPOINT);
    next();
    for (int i = 0; i < 2_500; i++) {
      publisher.registered(3, location(i));
    }
    CompletableFuture<Void> known = publisher.flush();
    answers.release(3);

    assertThat(next().outputs()).hasSize(1_000);
    assertThat(next().outputs()).hasSize(1_000);
    assertThat(next().outputs()).hasSize(500);
    assertThat(known).isNotDone();

    answers.release();
    assertThat(known).succeedsWithin(Duration.ofSeconds(20));
  }

  @Test
  void saysWhenTheDriverKnows() throws InterruptedException {
    publisher.start(ENDPOINT);
    next();
    answers.release();
    publisher.registered(3, location(1));
    CompletableFuture<Void> known = publisher.flush();
    next();
    assertThat(known).isNotDone();

    answers.release();

    assertThat(known).succeedsWithin(Duration.ofSeconds(20));
  }

  @Test
  void closingEndsAllWaits() throws InterruptedException {
    publisher.start(ENDPOINT);
    next();
    CompletableFuture<Void> waiting = publisher.flush();

    publisher.close();

    assertThat(waiting).succeedsWithin(Duration.ofSeconds(20));
    assertThat(publisher.flush()).succeedsWithin(Duration.ofSeconds(20));
  }

  @Test
  void doesNotWaitForTasksOfAnotherShuffle() throws InterruptedException {
    AtomicInteger questions = new AtomicInteger();
    moreExpected =
        shuffleId -> {
          questions.incrementAndGet();
          return shuffleId == 4;
        };
    answers.release(100);
    publisher.start(ENDPOINT);
    next();

    publisher.registered(3, location(1));

    assertThat(next().outputs()).containsExactly(new Published(3, location(1)));
    assertThat(questions).hasValue(1);
  }

  @Test
  void doesNotWaitForEverForTasksThatWriteOn() throws InterruptedException {
    moreExpected = _ -> true;
    answers.release(100);
    publisher.start(ENDPOINT);
    next();
    publisher.registered(3, location(1));
    assertThat(next().outputs()).containsExactly(new Published(3, location(1)));
  }

  @Test
  void sendsUnansweredLocationsAgain() throws InterruptedException {
    failures.set(2);
    answers.release(100);
    publisher.start(ENDPOINT);
    assertThat(List.of(next(), next(), next())).containsOnly(new Publish(ENDPOINT, List.of()));
    publisher.registered(3, location(1));
    assertThat(next().outputs()).containsExactly(new Published(3, location(1)));
  }

  @Test
  void pausesBetweenAttemptsGrowAndStayShort() {
    assertThat(
            LongStream.iterate(Publisher.FIRST_PAUSE_MS, Publisher::nextPauseMs).limit(8).toArray())
        .containsExactly(100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000);
  }

  @Test
  void tellsTheDriverNothingBeforeItStarts() throws InterruptedException {
    publisher.registered(3, location(1));
    assertThat(publisher.flush()).isCompleted();
    answers.release(100);
    publisher.start(ENDPOINT);
    publisher.start(ENDPOINT);
    assertThat(next()).isEqualTo(new Publish(ENDPOINT, List.of()));
    publisher.registered(3, location(2));
    assertThat(next().outputs()).containsExactly(new Published(3, location(2)));
    assertThat(sent).isEmpty();
  }

  @Test
  void isClosedBeforeItWasStarted() {
    publisher.close();
    publisher.close();
    publisher.start(ENDPOINT);
    assertThat(publisher.flush()).isCompleted();
    assertThat(sent).isEmpty();
  }

  private DirectoryMessage driver(DirectoryMessage message) throws IOException {
    sent.add((Publish) message);
    if (failures.getAndDecrement() > 0) {
      throw new IOException("no answer");
    }
    try {
      answers.acquire();
      return new Ack();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private Publish next() throws InterruptedException {
    Publish publish = sent.poll(20, TimeUnit.SECONDS);
    assertThat(publish).isNotNull();
    return publish;
  }
}
