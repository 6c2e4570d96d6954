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
 * How readers, which never wait, ask the driver: on its {@link LocatorClient.Driver#asker}, within
 * a deadline, and once for all who want to know the same at a time. Any thread; nothing to close.
 */
final class DriverQuestions {
  private static final Logger LOG = LoggerFactory.getLogger(DriverQuestions.class);

  private final LocatorClient.Driver driver;
  private final long timeoutMs;
  private final Map<PeerAddress, CompletableFuture<Void>> reports = new ConcurrentHashMap<>();

  DriverQuestions(LocatorClient.Driver driver, long timeoutMs) {
    this.driver = driver;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Completes, always normally, when the question has been asked or its time is over.
   *
   * @param before what comes first, within the same time
   */
  CompletableFuture<Void> ask(CompletableFuture<Void> before, Runnable question) {
    return ask(before, question, driver.asker());
  }

  private CompletableFuture<Void> ask(
      CompletableFuture<Void> before, Runnable question, Executor thread) {
    return before
        .thenRunAsync(question, thread)
        .orTimeout(timeoutMs, TimeUnit.MILLISECONDS)
        .exceptionally(DriverQuestions::unanswered);
  }

  private static Void unanswered(Throwable failure) {
    if (failure.getCause() instanceof RejectedExecutionException) {
      LOG.debug("The driver is not asked: the executor stops");
    } else {
      LOG.warn("The driver's location directory does not answer", failure);
    }
    return null;
  }

  /**
   * Asks unless that is being asked.
   *
   * @param thread that asks
   * @param underWay what is being asked, by what it is about
   * @param question completes the answer, or does not
   * @param unanswered what is the answer then
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
   * See {@link Locator#report}. On a thread of its own: the driver answers when it has asked the
   * node, for seconds, and other questions do not wait for a rack of nodes that are gone.
   */
  CompletableFuture<Void> report(PeerAddress silentNode) {
    return once(
        Thread::startVirtualThread, reports, silentNode, _ -> reportNow(silentNode), () -> null);
  }

  private void reportNow(PeerAddress silentNode) {
    try {
      driver.channel().ask(new Silent(silentNode));
    } catch (IOException e) {
      LOG.warn("The driver is not told that {} does not answer", silentNode, e);
    }
  }
}
