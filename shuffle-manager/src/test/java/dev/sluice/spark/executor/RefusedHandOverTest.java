// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.logging.log4j.Level;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Map tasks whose node daemon, which the test scripts, accepts or refuses their map outputs. */
@Timeout(60)
class RefusedHandOverTest {
  private static final long WAIT_S = 20;
  private static final Duration LIMIT = Duration.ofSeconds(WAIT_S);
  private static final long REFUSED = 99;
  private static final long PAUSE_MS = 1;
  private static final Optional<ExecutorEndpoint> SERVER =
      Optional.of(new ExecutorEndpoint(new PeerAddress("3", "host", 4000), "soft"));

  @TempDir private Path directory;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final List<Long> taken = new CopyOnWriteArrayList<>();
  private final List<Kept> told = new CopyOnWriteArrayList<>();
  private final AtomicInteger driverFailures = new AtomicInteger();
  private volatile String refusal = "";
  private volatile int handOvers;

  /** Times that the executor asked to be let in; the first time is no question. */
  private volatile int entered;

  private Executor threads = Thread::startVirtualThread;
  private ServerSocketChannel socket;
  private NodeHandOver handOver;

  @BeforeEach
  void listen() throws IOException {
    Path path = directory.resolve("node.sock");
    socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    socket.bind(UnixDomainSocketAddress.of(path));
    Thread.ofPlatform().daemon().start(this::serve);
    Files.createDirectory(directory.resolve("node"));
    handOver = handOver(TimeUnit.SECONDS.toMillis(WAIT_S));
  }

  private NodeHandOver handOver(long driverTimeoutMs) {
    return new NodeHandOver(
        new NodeAccess(
            "ab",
            directory.resolve("node.sock"),
            Optional.empty(),
            new NodeClient.Limits(LIMIT, Duration.ZERO)),
        new ProcessName("app-1-ab", "3"),
        "soft",
        new SluiceRuntime.Environment(
            new SparkConf(false),
            new SluiceRuntime.Executor("3", "127.0.0.1", 1),
            new SluiceRuntime.Network(null, List.of(), List.of(), "", null),
            message -> message,
            null,
            this::write,
            List.of()),
        new KeptOutputs("3", SERVER, this::tell, driverTimeoutMs, PAUSE_MS),
        counters,
        task -> this.threads.execute(task));
  }

  @AfterEach
  void close() throws IOException {
    handOver.close();
    socket.close();
  }

  /** The daemon. */
  private void serve() {
    while (socket.isOpen()) {
      try (NodeChannel executor = new NodeChannel(socket.accept())) {
        while (true) {
          executor.send(answer(executor.receive()));
        }
      } catch (IOException _) {
        // The executor has gone.
      }
    }
  }

  private Object answer(Object request) {
    if (request instanceof HandOver(int _, long mapId, int _)) {
      handOvers++;
      if (refusal.isEmpty() && mapId != REFUSED) {
        taken.add(mapId);
        return new Accepted();
      }
      return new Refused(refusal.isEmpty() ? "its directory is full" : refusal);
    }
    entered++;
    return refusal.isEmpty()
        ? new Registered(
            "node", "127.0.0.1", 7, "soft", List.of(directory.resolve("node").toString()))
        : new Refused(refusal);
  }

  private int questions() {
    return entered - 1;
  }

  /** Writes a map output of one block of ten bytes. */
  private MapOutputFiles.Files write(int shuffleId, long mapId) throws IOException {
    Path data = Files.write(directory.resolve(mapId + ".data"), new byte[10]);
    byte[] offsets = ByteBuffer.allocate(2 * Long.BYTES).putLong(0).putLong(10).array();
    Path index = Files.write(directory.resolve(mapId + ".index"), offsets);
    return new MapOutputFiles.Files(data, index, null, ChecksumAlgorithm.NONE);
  }

  private DirectoryMessage tell(DirectoryMessage message) throws IOException {
    if (driverFailures.getAndDecrement() > 0) {
      throw new IOException("no answer");
    }
    told.add((Kept) message);
    return new Ack();
  }

  /** Asserts that the driver knows these map outputs, and the reason why each one stays. */
  private void assertTold(String reason, Long... mapIds) {
    assertThat(told).extracting(Kept::mapId).containsExactly(mapIds);
    assertThat(told)
        .allSatisfy(
            kept ->
                assertThat(kept).isEqualTo(new Kept("3", 0, kept.mapId(), kept.reason(), SERVER)))
        .allSatisfy(kept -> assertThat(kept.reason()).endsWith(reason));
  }

  @Test
  void theDriverHearsOfNoMapOutputThatTheNodeTakes() throws Exception {
    handOver.ask();
    handOver.expect();
    assertThat(handOver.committed(0, 1)).as("files that the node serves").isPresent();
    assertThat(taken).containsExactly(1L);
    assertThat(told).isEmpty();
    assertThat(questions()).isZero();
  }

  @Test
  void aRefusalFailsNoTaskAndTheDriverKnowsTheMapOutputsThatStay() throws Exception {
    handOver.ask();
    refusal = "the disk is full";
    driverFailures.set(1);
    try (LogCapture log = new LogCapture(KeptOutputs.class, Level.WARN)) {
      assertThat(handOver.committed(0, 1)).as("files that the node serves").isEmpty();
      assertThat(handOver.committed(0, 2)).isEmpty();
      assertThat(log.messages()).singleElement().asString().contains("the disk is full");
    }
    assertTold("the disk is full", 1L, 2L);
  }

  @Test
  void aNodeThatWasNeverThereIsTriedOnce() throws Exception {
    refusal = "nobody is there";
    Executor started = threads;
    AtomicBoolean tried = new AtomicBoolean();
    threads =
        task -> {
          if (!tried.getAndSet(true)) { // asks no more
            started.execute(task);
          }
        };
    handOver.committed(0, 1);
    handOver.committed(0, 2);
    assertTold("nobody is there", 1L, 2L);
    assertThat(entered).isEqualTo(1);
  }

  @Test
  void nothingIsHandedOverToANodeThatTakesNone() throws Exception {
    handOver.ask();
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
    handOver.ask();
    handOver.committed(0, REFUSED);
    handOver.committed(0, 1);
    await(() -> questions() == 1);
    handOver.committed(0, 2);
    assertThat(taken).containsExactly(1L, 2L);
    assertTold("its directory is full", REFUSED);
  }

  @Test
  void withoutAThreadToAskTheNodeNoTaskFailsAndALaterOneAsks() throws Exception {
    handOver.ask();
    Executor started = threads;
    threads =
        _ -> {
          throw new InternalError("thrown by a test: no thread can be created");
        };
    assertThat(handOver.committed(0, REFUSED)).as("files that the node serves").isEmpty();
    assertTold("its directory is full", REFUSED);

    threads = started;
    handOver.committed(0, REFUSED);
    await(() -> questions() == 1);
  }

  @Test
  void aNodeThatRefusedIsAskedBeforeATaskAndHasMapOutputsHandedOverAgain() throws Exception {
    handOver.ask();
    refusal = "the disk is full";
    handOver.committed(0, 1);
    await(() -> questions() == 1);
    await(
        () -> {
          handOver.expect();
          return questions() >= 2;
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
    handOver.ask();
    refusal = "the disk is full";
    driverFailures.set(20);
    handOver.committed(0, 1);
    assertThat(told).hasSize(1);
  }

  @Test
  void aTaskFailsWhereNeitherTheNodeNorTheDriverAnswers() {
    refusal = "the disk is full";
    driverFailures.set(Integer.MAX_VALUE);
    try (NodeHandOver impatient = handOver(20)) {
      assertThatThrownBy(() -> impatient.committed(0, 1))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("map output 1 of shuffle 0", "spark.rpc.askTimeout");
    }
  }

  @Test
  void aTaskThatIsKilledInTheMeantimeLogsNothing() throws Exception {
    handOver.ask();
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
