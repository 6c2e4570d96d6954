// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.spark.HandOver.NodeOutputs;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;

/** No task waits for a hand-over that Spark was not promised, and no task fails because of one. */
class BackgroundHandOverTest {
  private static final long WAIT_S = 20;
  private static final long GONE = 99;

  private final ShuffleCounters counters = new ShuffleCounters();
  private final BlockingQueue<Long> taken = new LinkedBlockingQueue<>();
  private final Semaphore answers = new Semaphore(0);
  private volatile String refusal = "";

  private volatile Error error;

  private final NodeOutputs node =
      new NodeOutputs() {
        @Override
        public boolean isKnown() {
          return true;
        }

        @Override
        public void ask() throws IOException {
          throw new IOException("nobody is there");
        }

        @Override
        public void handOver(int shuffleId, long mapId) throws IOException {
          answers.acquireUninterruptibly();
          if (error != null) {
            throw error;
          }
          counters.add(
              refusal.isEmpty() ? ShuffleCounter.NODE_TAKEN : ShuffleCounter.NODE_REFUSED, 1);
          if (!refusal.isEmpty()) {
            throw new IOException(refusal);
          }
          taken.add(mapId);
        }
      };

  private final MapOutputFiles files =
      (_, mapId) ->
          mapId == GONE
              ? null
              : new MapOutputFiles.Files(
                  Path.of("data"), Path.of("index"), null, ChecksumAlgorithm.NONE);

  @Test
  void tasksDoNotWaitForIt() throws Exception {
    try (HandOver handOver = new BackgroundHandOver(node, files, counters, () -> {})) {
      handOver.expect();
      handOver.committed(0, 1);
      handOver.committed(0, GONE);
      handOver.committed(0, 2);
      assertThat(taken).isEmpty();
      answers.release(3);
      assertThat(taken.poll(WAIT_S, TimeUnit.SECONDS)).isEqualTo(1);
      assertThat(taken.poll(WAIT_S, TimeUnit.SECONDS)).isEqualTo(2);
    }
  }

  @Test
  void refusalsOfTheNodeAreLoggedOnceAndCounted() throws Exception {
    refusal = "the disk is full";
    answers.release(3);
    try (LogCapture log = new LogCapture(BackgroundHandOver.class, Level.WARN);
        HandOver handOver = new BackgroundHandOver(node, files, counters, () -> {})) {
      for (long mapId = 0; mapId < 3; mapId++) {
        handOver.committed(0, mapId);
      }
      awaitRefused(3);
      assertThat(log.messages()).singleElement().asString().contains("the disk is full");
      assertThat(answers.availablePermits()).as("it is asked once").isEqualTo(2);
    }
  }

  /** The thread continues after an error. */
  @Test
  void anErrorIsLoggedAndOthersAreCounted() throws Exception {
    error = new NoClassDefFoundError("of the test");
    answers.release(2);
    try (LogCapture log = new LogCapture(BackgroundHandOver.class, Level.WARN);
        HandOver handOver = new BackgroundHandOver(node, files, counters, () -> {})) {
      handOver.committed(0, 1);
      handOver.committed(0, 2);
      awaitRefused(1);
      assertThat(log.messages()).singleElement().asString().contains("NoClassDefFoundError");
    }
  }

  @Test
  void anErrorOfTheCountersEndsNoHandOver() throws Exception {
    answers.release(2);
    Runnable counted =
        () -> {
          throw new IllegalStateException("of the test");
        };
    try (HandOver handOver = new BackgroundHandOver(node, files, counters, counted)) {
      handOver.committed(0, 1);
      handOver.committed(0, 2);
      assertThat(taken.poll(WAIT_S, TimeUnit.SECONDS)).isEqualTo(1);
      assertThat(taken.poll(WAIT_S, TimeUnit.SECONDS)).isEqualTo(2);
    }
  }

  private void awaitRefused(long count) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
    while (counters.byName().get("node.refused").getAsLong() < count) {
      assertThat(System.nanoTime() - deadlineNanos).isNegative();
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }
}
