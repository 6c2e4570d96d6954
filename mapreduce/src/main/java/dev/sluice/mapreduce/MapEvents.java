// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.IOException;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.task.reduce.ExceptionReporter;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Thread that asks the application master each second for map tasks that have completed, failed or
 * become obsolete, and tells the scheduler. {@link RdmaShuffle} starts and stops it. Hadoop's own
 * thread for it is not public; the times and the number of attempts are Hadoop's.
 */
final class MapEvents extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(MapEvents.class);

  private static final long INTERVAL_MS = 1_000;
  private static final long RETRY_MS = 5_000;
  static final int MAX_FAILURES = 10;
  private static final long STOP_MS = 5_000;

  /** Limits of the events of one call, so that many reducers do not overload the master. */
  private static final int MIN_EVENTS = 100;

  private static final int MAX_EVENTS = 10_000;
  private static final int MAX_EVENTS_OF_ALL_REDUCERS = 3_000_000;

  private final TaskAttemptID reduce;
  private final TaskUmbilicalProtocol master;
  private final ShuffleScheduler<?, ?> scheduler;
  private final ExceptionReporter failures;
  private final int maxEvents;
  private int nextEvent;

  /** Failures in a row. */
  private int failed;

  private volatile boolean stopped;

  MapEvents(
      TaskAttemptID reduce,
      TaskUmbilicalProtocol master,
      ShuffleScheduler<?, ?> scheduler,
      ExceptionReporter failures,
      int reducers) {
    super("sluice-map-events");
    setDaemon(true);
    this.reduce = reduce;
    this.master = master;
    this.scheduler = scheduler;
    this.failures = failures;
    this.maxEvents =
        Math.min(MAX_EVENTS, Math.max(MIN_EVENTS, MAX_EVENTS_OF_ALL_REDUCERS / reducers));
  }

  @Override
  public void run() {
    try {
      while (!stopped) {
        Thread.sleep(ask());
      }
    } catch (InterruptedException e) {
      LOG.debug("The thread was stopped", e);
    } catch (Throwable e) {
      failures.reportException(e);
    }
  }

  /**
   * Tells the scheduler all events that it does not know.
   *
   * @return time to the next call, in milliseconds
   * @throws IOException if the application master has failed too often in a row
   */
  long ask() throws IOException {
    try {
      askForAll();
      failed = 0;
      return INTERVAL_MS;
    } catch (IOException e) {
      failed++;
      if (failed >= MAX_FAILURES) {
        throw new IOException(
            "the application master did not tell map events in " + failed + " attempts", e);
      }
      LOG.info("Asking the application master for map events failed; trying again", e);
      return RETRY_MS;
    }
  }

  private void askForAll() throws IOException {
    TaskCompletionEvent[] events;
    do {
      events =
          master
              .getMapCompletionEvents(reduce.getJobID(), nextEvent, maxEvents, reduce)
              .getMapTaskCompletionEvents();
      nextEvent += events.length;
      for (TaskCompletionEvent event : events) {
        resolve(event);
      }
    } while (events.length == maxEvents);
  }

  private void resolve(TaskCompletionEvent event) throws IOException {
    try {
      scheduler.resolve(event);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Stops the thread, and waits for it a while. */
  void shutDown() throws InterruptedException {
    stopped = true;
    interrupt();
    join(STOP_MS);
  }
}
