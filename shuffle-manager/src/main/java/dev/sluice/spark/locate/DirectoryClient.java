// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Questions to the driver's {@link LocationDirectory} for readers, which never wait. Runs them on
 * {@link LocatorClient.Driver#asker}, within a deadline, and combines equal questions that are
 * asked at the same time. {@link LocatorClient} has one, and its {@link ShuffleTable}s share it.
 * Any thread. Answers complete on the thread that asked the driver, or on the JDK's timer of
 * futures, which must not be blocked. Nothing to close.
 */
final class DirectoryClient {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryClient.class);

  /** Fraction (1/10) of a question's time that a refresh waits for pending publications. */
  private static final int PUBLISH_SHARE = 10;

  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final LocatorClient.Driver driver;
  private final long timeoutMs;
  private final KnownExecutors executors;

  /** Answers that are pending; null is completed without an answer. */
  private final Map<DirectoryMessage, CompletableFuture<DirectoryMessage>> pending =
      new ConcurrentHashMap<>();

  /**
   * @param executors each {@link #refresh} updates it
   */
  DirectoryClient(LocatorClient.Driver driver, long timeoutMs, KnownExecutors executors) {
    this.driver = driver;
    this.timeoutMs = timeoutMs;
    this.executors = executors;
  }

  KnownExecutors executors() {
    return executors;
  }

  /**
   * Publishes this executor's pending locations. Publishing may be retried for a minute, so it
   * completes after a limited time.
   */
  CompletableFuture<Void> publish() {
    long soonMs = timeoutMs / PUBLISH_SHARE;
    return driver.publisher().get().completeOnTimeout(null, soonMs, TimeUnit.MILLISECONDS);
  }

  /**
   * Asks for the locations that a table lacks. Completes, always normally, when the table has them,
   * or the time is over.
   *
   * @param before must complete first, within the same time
   * @param nowNanos time of the question
   */
  CompletableFuture<Void> refresh(
      CompletableFuture<Void> before, ShuffleTable table, long nowNanos) {
    return inTime(before.thenRunAsync(() -> refreshNow(table, nowNanos), driver.asker()));
  }

  private void refreshNow(ShuffleTable table, long nowNanos) {
    Locate question = table.question();
    try {
      if (driver.channel().ask(question) instanceof Table answer) {
        // Done first, because the rest may fail. Then readers ask peers for the missing locations.
        executors.update(answer.executors());
        byte[] handle = answer.broadcast();
        byte[] broadcast = handle.length == 0 ? null : driver.broadcasts().fetch(handle);
        table.update(question, answer, broadcast, nowNanos);
      }
    } catch (IOException e) {
      LOG.warn(
          "Refreshing the locations of shuffle {} failed: {}", question.shuffleId(), e.toString());
    }
  }

  /**
   * Asks a question unless an equal one is pending.
   *
   * @param thread runs the question, which blocks
   * @param failed log text if the driver cannot be asked; its one argument is {@code about}
   * @return completes always normally, with null if there is no answer
   */
  CompletableFuture<DirectoryMessage> once(
      DirectoryMessage question, Executor thread, String failed, Object about) {
    CompletableFuture<DirectoryMessage> answer = new CompletableFuture<>();
    CompletableFuture<DirectoryMessage> asked = pending.putIfAbsent(question, answer);
    if (asked != null) {
      return asked;
    }
    Runnable ask =
        () -> {
          try {
            answer.complete(driver.channel().ask(question));
          } catch (IOException e) {
            LOG.warn(failed, about, e);
          }
        };
    inTime(DONE.thenRunAsync(ask, thread))
        .thenRun(
            () -> {
              pending.remove(question);
              answer.complete(null);
            });
    return answer;
  }

  /** Completes normally after the timeout, and if the question fails. */
  private CompletableFuture<Void> inTime(CompletableFuture<Void> asked) {
    return asked
        .orTimeout(timeoutMs, TimeUnit.MILLISECONDS)
        .exceptionally(DirectoryClient::unanswered);
  }

  private static @Nullable Void unanswered(Throwable failure) {
    if (failure.getCause() instanceof RejectedExecutionException) {
      LOG.debug("Not asking the driver: the executor is stopping");
    } else {
      LOG.warn(
          "The driver's location directory did not answer; going on without its answer"
              + " (spark.shuffle.rdma.locate.timeout)",
          failure);
    }
    return null;
  }
}
