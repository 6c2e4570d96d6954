// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Questions to the driver for readers, which never wait. Runs them on {@link
 * LocatorClient.Driver#asker}, within a deadline, and combines equal questions that are asked at
 * the same time. {@link LocatorClient} has one, and calls it on any thread. Answers complete on the
 * thread that asked the driver, or on the JDK's timer of futures, which must not be blocked.
 * Nothing to close.
 */
final class DirectoryClient {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryClient.class);

  private final LocatorClient.Driver driver;
  private final long timeoutMs;
  private final Map<PeerAddress, CompletableFuture<Void>> reports = new ConcurrentHashMap<>();

  DirectoryClient(LocatorClient.Driver driver, long timeoutMs) {
    this.driver = driver;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Asks a question. Completes, always normally, when it has been asked or its time is over.
   *
   * @param before must complete first, within the same time
   */
  CompletableFuture<Void> ask(CompletableFuture<Void> before, Runnable question) {
    return ask(before, question, driver.asker());
  }

  private CompletableFuture<Void> ask(
      CompletableFuture<Void> before, Runnable question, Executor thread) {
    return before
        .thenRunAsync(question, thread)
        .orTimeout(timeoutMs, TimeUnit.MILLISECONDS)
        .exceptionally(DirectoryClient::unanswered);
  }

  private static Void unanswered(Throwable failure) {
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

  /**
   * Asks a question unless one about the same subject is under way.
   *
   * @param thread runs the question
   * @param underWay answers that are pending, by subject
   * @param about subject of the question
   * @param question completes the answer, if it gets one
   * @param unanswered returns the answer otherwise
   */
  <K, V> CompletableFuture<V> once(
      Executor thread,
      Map<K, CompletableFuture<V>> underWay,
      K about,
      Consumer<CompletableFuture<V>> question,
      Supplier<V> unanswered) {
    CompletableFuture<V> answer = new CompletableFuture<>();
    CompletableFuture<V> asked = underWay.putIfAbsent(about, answer);
    if (asked != null) {
      return asked;
    }
    ask(CompletableFuture.completedFuture(null), () -> question.accept(answer), thread)
        .thenRun(
            () -> {
              underWay.remove(about);
              answer.complete(unanswered.get());
            });
    return answer;
  }

  /**
   * See {@link Locator#report}. Runs on a thread of its own: the driver asks the node for seconds
   * before it answers, and other questions must not wait for a whole rack of lost nodes.
   */
  CompletableFuture<Void> report(PeerAddress silentNode) {
    return once(
        Thread::startVirtualThread, reports, silentNode, _ -> reportNow(silentNode), () -> null);
  }

  private void reportNow(PeerAddress silentNode) {
    try {
      driver.channel().ask(new Silent(silentNode));
    } catch (IOException e) {
      LOG.warn("Cannot tell the driver that node daemon {} does not answer", silentNode, e);
    }
  }
}
