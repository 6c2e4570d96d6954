// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.AwaitedHandOver.NodeOutputs;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;

/** Map tasks whose node daemon accepts or refuses their map outputs. */
class AwaitedHandOverTest {
  private static final long WAIT_S = 20;
  private static final long REFUSED = 99;
  private static final long PAUSE_MS = 1;
  private static final Optional<ExecutorEndpoint> SERVER =
      Optional.of(new ExecutorEndpoint(new PeerAddress("3", "host", 4000), "soft"));

  private final ShuffleCounters counters = new ShuffleCounters();
  private final List<Long> taken = new CopyOnWriteArrayList<>();
  private final List<DirectoryMessage> told = new CopyOnWriteArrayList<>();
  private final AtomicInteger driverFailures = new AtomicInteger();
  private volatile String refusal = "";
  private volatile boolean isKnown = true;
  private volatile int handOvers;
  private volatile int questions;

  private final NodeOutputs node =
      new NodeOutputs() {
        @Override
        public boolean isKnown() {
          return isKnown;
        }

        @Override
        public void ask() throws IOException {
          questions++;
          refuse();
        }

        @Override
        public void handOver(int shuffleId, long mapId) throws IOException {
          handOvers++;
          refuse();
          if (mapId == REFUSED) {
            throw new IOException("its directory is full");
          }
          taken.add(mapId);
        }

        private void refuse() throws IOException {
          if (!refusal.isEmpty()) {
            throw new IOException(refusal);
          }
        }
      };

  private Executor threads = DaemonThreads.perTask("test-ask-");
  private final AwaitedHandOver handOver =
      new AwaitedHandOver(
          node,
          new KeptOutputs("3", SERVER, this::tell, TimeUnit.SECONDS.toMillis(WAIT_S), PAUSE_MS),
          counters,
          task -> this.threads.execute(task));

  private DirectoryMessage tell(DirectoryMessage message) throws IOException {
    if (driverFailures.getAndDecrement() > 0) {
      throw new IOException("no answer");
    }
    told.add(message);
    return new Ack();
  }

  @Test
  void theDriverHearsOfNoMapOutputThatTheNodeTakes() throws Exception {
    handOver.expect();
    assertThat(handOver.committed(0, 1)).as("the executor serves the map output").isFalse();
    assertThat(taken).containsExactly(1L);
    assertThat(told).isEmpty();
    assertThat(questions).isZero();
  }

  @Test
  void aRefusalFailsNoTaskAndTheDriverKnowsTheMapOutputsThatStay() throws Exception {
    refusal = "the disk is full";
    driverFailures.set(1);
    try (LogCapture log = new LogCapture(KeptOutputs.class, Level.WARN)) {
      assertThat(handOver.committed(0, 1)).as("the executor serves the map output").isTrue();
      assertThat(handOver.committed(0, 2)).isTrue();
      assertThat(log.messages()).singleElement().asString().contains("the disk is full");
    }
    assertThat(told)
        .containsExactly(
            new Kept("3", 0, 1, "the disk is full", SERVER),
            new Kept("3", 0, 2, "the disk is full", SERVER));
  }

  @Test
  void aNodeThatWasNeverThereIsTriedOnce() throws Exception {
    refusal = "nobody is there";
    isKnown = false;
    handOver.committed(0, 1);
    handOver.committed(0, 2);
    assertThat(told)
        .containsExactly(
            new Kept("3", 0, 1, "nobody is there", SERVER),
            new Kept("3", 0, 2, "nobody is there", SERVER));
    assertThat(handOvers).isEqualTo(1);
  }

  @Test
  void nothingIsHandedOverToANodeThatTakesNone() throws Exception {
    refusal = "the disk is full";
    await(
        () -> {
          int before = handOvers;
          handOver.committed(0, 1);
          return handOvers == before;
        });
    int before = handOvers;
    handOver.committed(0, 2);
    assertThat(handOvers).isEqualTo(before);
    assertThat(told).last().isEqualTo(new Kept("3", 0, 2, "the disk is full", SERVER));
  }

  @Test
  void oneMapOutputThatTheNodeDoesNotTakeStaysAlone() throws Exception {
    handOver.committed(0, REFUSED);
    handOver.committed(0, 1);
    await(() -> questions == 1);
    handOver.committed(0, 2);
    assertThat(taken).containsExactly(1L, 2L);
    assertThat(told).containsExactly(new Kept("3", 0, REFUSED, "its directory is full", SERVER));
  }

  @Test
  void withoutAThreadToAskTheNodeNoTaskFailsAndALaterOneAsks() throws Exception {
    Executor started = threads;
    threads =
        _ -> {
          throw new InternalError("thrown by a test: no thread can be created");
        };
    assertThat(handOver.committed(0, REFUSED)).as("the executor serves the map output").isTrue();
    assertThat(told).containsExactly(new Kept("3", 0, REFUSED, "its directory is full", SERVER));

    threads = started;
    handOver.committed(0, REFUSED);
    await(() -> questions == 1);
  }

  @Test
  void aNodeThatRefusedIsAskedBeforeATaskAndHasMapOutputsHandedOverAgain() throws Exception {
    refusal = "the disk is full";
    handOver.committed(0, 1);
    await(() -> questions == 1);
    await(
        () -> {
          handOver.expect();
          return questions == 2;
        });

    refusal = "";
    await(
        () -> {
          handOver.expect();
          handOver.committed(0, 3);
          return taken.contains(3L);
        });
  }

  /** A question to the driver ends after spark.shuffle.rdma.locate.timeout, which may be short. */
  @Test
  void aDriverThatPausesForManyQuestionsFailsNoTask() throws Exception {
    refusal = "the disk is full";
    driverFailures.set(20);
    handOver.committed(0, 1);
    assertThat(told).hasSize(1);
  }

  @Test
  void aTaskFailsWhereNeitherTheNodeNorTheDriverAnswers() {
    refusal = "the disk is full";
    driverFailures.set(Integer.MAX_VALUE);
    KeptOutputs kept = new KeptOutputs("3", SERVER, this::tell, 20, PAUSE_MS);
    assertThatThrownBy(() -> new AwaitedHandOver(node, kept, counters, threads).committed(0, 1))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("map output 1 of shuffle 0", "spark.rpc.askTimeout");
  }

  @Test
  void aTaskThatIsKilledInTheMeantimeLogsNothing() {
    refusal = "interrupted";
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> handOver.committed(0, 1)).isInstanceOf(IOException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(told).isEmpty();
  }

  /** Condition that becomes true in the end. */
  @FunctionalInterface
  private interface State {
    boolean isReached() throws IOException;
  }

  private static void await(State state) throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
    while (!state.isReached()) {
      assertThat(System.nanoTime() - deadlineNanos).isNegative();
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }
}
