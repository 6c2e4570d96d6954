// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import dev.sluice.rdma.RateLimitedLog;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Map outputs that stay with this executor although Spark was promised that they outlive it ({@code
 * spark.shuffle.rdma.node=on}). Tells the driver of each one before its task ends. Then readers
 * find the executor's block server, and the driver unregisters the map outputs when the executor is
 * lost. The executor's runtime makes it. {@link NodeHandOver} and {@link FallbackRuntime} call it
 * on map tasks' threads, which wait for the driver and hold no lock. Nothing to close.
 */
final class KeptOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(KeptOutputs.class);

  /** Pause after a question that failed, which may fail at once. */
  private static final long PAUSE_MS = 500;

  private final String executorId;
  private final Optional<ExecutorEndpoint> server;
  private final DriverChannel driver;
  private final long timeoutMs;
  private final long pauseMs;

  private final RateLimitedLog warnings = new RateLimitedLog(Duration.ofMinutes(10), 1);

  /** Number of map outputs that stay. */
  private final AtomicLong count = new AtomicLong();

  /**
   * @param server the executor's block server; empty if its map outputs are not READ
   * @param timeoutMs how long to keep asking a driver that does not answer, as in a long garbage
   *     collection
   */
  KeptOutputs(
      String executorId, Optional<ExecutorEndpoint> server, DriverChannel driver, long timeoutMs) {
    this(executorId, server, driver, timeoutMs, PAUSE_MS);
  }

  /**
   * @param pauseMs pause between two attempts
   */
  KeptOutputs(
      String executorId,
      Optional<ExecutorEndpoint> server,
      DriverChannel driver,
      long timeoutMs,
      long pauseMs) {
    this.executorId = executorId;
    this.server = server;
    this.driver = driver;
    this.timeoutMs = timeoutMs;
    this.pauseMs = pauseMs;
  }

  /**
   * Returns when the driver knows of the map output.
   *
   * @param reason why the map output stays
   * @throws IOException if the driver does not answer, or the caller is interrupted
   */
  void keep(int shuffleId, long mapId, String reason) throws IOException {
    say(reason);
    tell(new Kept(executorId, shuffleId, mapId, reason, server));
  }

  private void say(String reason) {
    long all = count.incrementAndGet();
    if (warnings.add(System.nanoTime()) > 0) {
      LOG.warn(
          "{} map outputs stay with this executor, because the node daemon does not take them;"
              + " Spark writes them again if the executor ends (logged at most every 10 minutes;"
              + " spark.shuffle.rdma.node): {}",
          all,
          reason);
    }
  }

  private void tell(Kept message) throws IOException {
    long startNanos = System.nanoTime();
    while (true) {
      try {
        driver.ask(message);
        return;
      } catch (IOException e) {
        boolean isLate = System.nanoTime() - startNanos >= TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        if (isLate || Thread.currentThread().isInterrupted()) {
          throw new IOException(
              ("cannot tell the driver within %d ms (spark.rpc.askTimeout) that map output %d of"
                      + " shuffle %d stays with its executor: %s")
                  .formatted(timeoutMs, message.mapId(), message.shuffleId(), e.getMessage()),
              e);
        }
        pause(e);
      }
    }
  }

  private void pause(IOException cause) throws IOException {
    try {
      Thread.sleep(pauseMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cause;
    }
  }
}
