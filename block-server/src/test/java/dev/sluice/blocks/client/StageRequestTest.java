// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.server.TestBlockServer;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Behaviour of a client towards a peer that stages late, or not at all. */
@Timeout(60)
class StageRequestTest {
  private static final TransportConf CONF = TestBlockServer.conf(Map.of());
  private static final int FAILURES = 3;
  private static final int COOLDOWN_MS = 1_000;
  private static final int IN_TIME_MS = 30_000;
  private static final Staged LEASE =
      new Staged(77, new RemoteRegion(1 << 20, 1, 7), 0, 1, 0, List.of());
  private static final NotStaged REFUSAL = new NotStaged(false, "no memory");

  private final MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
  private final BlockingQueue<RpcResponseCallback> requests = new LinkedBlockingQueue<>();
  private final BlockingQueue<Object> messages = new LinkedBlockingQueue<>();
  private final AtomicLong nowMs = new AtomicLong();
  private final TransportContext context = new TransportContext(CONF, new Peer());
  private final TransportServer server = context.createServer("localhost", 0, List.of());
  private final PeerAddress peer = new PeerAddress("peer", "localhost", server.getPort());
  private BlockServerClient client;

  /** True if the client's channels cannot send. */
  private volatile boolean broken;

  /** Answers when the test tells it to. */
  private final class Peer extends RpcHandler {
    @Override
    public void receive(TransportClient from, ByteBuffer request, RpcResponseCallback callback) {
      requests.add(callback);
    }

    @Override
    public void receive(TransportClient from, ByteBuffer message) {
      try {
        messages.add(codec.decode(message));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public StreamManager getStreamManager() {
      return new OneForOneStreamManager();
    }
  }

  @BeforeEach
  void connect() throws Exception {
    TransferOptions options =
        TransferOptions.DEFAULT.with(
            o -> {
              o.circuitFailures = FAILURES;
              o.circuitCooldownMs = COOLDOWN_MS;
            });
    client =
        new BlockServerClient(
            TestBlockServer.CLIENT,
            CONF,
            List.of(),
            options,
            IN_TIME_MS,
            this::nowMs,
            Thread::startVirtualThread);
    stage(REFUSAL);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    context.close();
  }

  private long nowMs() {
    if (broken && StackWalker.getInstance().walk(StageRequestTest::isOfChannel)) {
      throw new OutOfMemoryError("scripted");
    }
    return nowMs.get();
  }

  private static boolean isOfChannel(Stream<StackWalker.StackFrame> callers) {
    return callers.anyMatch(caller -> caller.getClassName().equals(PeerChannel.class.getName()));
  }

  private CompletableFuture<Object> stage(int timeLeftMs) {
    return stageBlocks(1, timeLeftMs);
  }

  /** Asks, and answers at once. */
  private Object stage(Object answer) throws Exception {
    CompletableFuture<Object> asked = stage(IN_TIME_MS);
    answer(answer);
    return asked.get(10, TimeUnit.SECONDS);
  }

  private void answer(Object answer) throws Exception {
    requests.poll(10, TimeUnit.SECONDS).onSuccess(ByteBuffer.wrap(codec.encode(answer)));
  }

  private static Done done(long leaseId) {
    return new Done(new ProcessName("app", "peer"), "client", leaseId);
  }

  private void waitInVain() {
    CompletableFuture<Object> asked = stage(50);
    nowMs.addAndGet(1_000);
    assertThatThrownBy(() -> asked.get(10, TimeUnit.SECONDS)).hasMessageContaining("within 50 ms");
  }

  private void assertNotAsked() {
    assertThatThrownBy(() -> stage(IN_TIME_MS).get(10, TimeUnit.SECONDS))
        .hasMessageContaining(
            "repeatedly did not stage in time, and is not asked again for some time");
    assertThat(requests).isEmpty();
  }

  @Test
  void lateLeasesAreGivenBackAtOnce() throws Exception {
    waitInVain();
    answer(LEASE);
    assertThat(messages.poll(10, TimeUnit.SECONDS)).isEqualTo(done(LEASE.leaseId()));
  }

  @Test
  void lateAnswersWithoutACopyHaveNoLease() throws Exception {
    waitInVain();
    answer(new Staged(0, new RemoteRegion(0, 0, 0), 0, 1, 0, List.of(Staged.STALE)));
    client.done(peer, 1);
    assertThat(messages.poll(10, TimeUnit.SECONDS)).isEqualTo(done(1));
  }

  @Test
  void leasesGrantedInTimeAreGivenBackByTheCaller() throws Exception {
    assertThat(stage(LEASE)).isEqualTo(LEASE);
    waitInVain();
    answer(REFUSAL);
    assertThat(stage(LEASE)).isEqualTo(LEASE);
    client.done(peer, 1);
    assertThat(messages.poll(10, TimeUnit.SECONDS)).isEqualTo(done(1));
  }

  @Test
  void aPeerThatDoesNotAnswerIsLeftAloneForAWhile() throws Exception {
    for (int i = 0; i < FAILURES; i++) {
      waitInVain();
      requests.poll(10, TimeUnit.SECONDS);
    }
    assertNotAsked();

    nowMs.addAndGet(COOLDOWN_MS);
    waitInVain(); // the probe
    requests.poll(10, TimeUnit.SECONDS);
    assertNotAsked();

    nowMs.addAndGet(COOLDOWN_MS);
    assertThat(stage(LEASE)).isEqualTo(LEASE);
    assertThat(stage(LEASE)).isEqualTo(LEASE);
  }

  @Test
  void aProbeThatCannotBeSentIsNotTheLastOne() throws Exception {
    for (int i = 0; i < FAILURES; i++) {
      waitInVain();
      requests.poll(10, TimeUnit.SECONDS);
    }
    nowMs.addAndGet(COOLDOWN_MS);
    broken = true;
    CompletableFuture<Object> probe = stage(IN_TIME_MS);
    broken = false;
    assertThatThrownBy(() -> probe.get(10, TimeUnit.SECONDS)).hasMessageContaining("scripted");
    assertThat(stage(LEASE)).isEqualTo(LEASE);
  }

  /** A peer whose disk hangs refuses when the request's time is nearly over. */
  @Test
  void aPeerThatRefusesLateIsLeftAloneForAWhile() throws Exception {
    for (int i = 0; i < FAILURES; i++) {
      CompletableFuture<Object> asked = stage(IN_TIME_MS);
      nowMs.addAndGet(IN_TIME_MS - 1);
      answer(REFUSAL);
      assertThat(asked.get(10, TimeUnit.SECONDS)).isEqualTo(REFUSAL);
    }
    assertNotAsked();
  }

  private List<CompletableFuture<Object>> stageTogether() {
    return Stream.generate(() -> stage(IN_TIME_MS)).limit(FAILURES + 1).toList();
  }

  private void refuse(List<CompletableFuture<Object>> asked) throws Exception {
    for (CompletableFuture<Object> each : asked) {
      answer(REFUSAL);
      assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo(REFUSAL);
    }
  }

  @Test
  void aPeerThatIsOverloadedIsAskedAgain() throws Exception {
    List<CompletableFuture<Object>> asked = stageTogether();
    nowMs.addAndGet(IN_TIME_MS / 2 + 1);
    answer(LEASE);
    assertThat(asked.getFirst().get(10, TimeUnit.SECONDS)).isEqualTo(LEASE);
    nowMs.addAndGet(IN_TIME_MS / 2 - 2);
    refuse(asked.subList(1, asked.size()));
    assertThat(stage(LEASE)).isEqualTo(LEASE);
  }

  @Test
  void refusedRequestsThatWaitedTogetherCountAsOne() throws Exception {
    for (int i = 0; i < FAILURES; i++) {
      List<CompletableFuture<Object>> asked = stageTogether();
      nowMs.addAndGet(IN_TIME_MS - 1);
      refuse(asked);
    }
    assertNotAsked();
  }

  /** The caller has waited for another resource until then. */
  @Test
  void aPeerThatHadLittleTimeIsAskedAgain() throws Exception {
    for (int i = 0; i < 2 * FAILURES; i++) {
      CompletableFuture<Object> asked = stage(50);
      nowMs.addAndGet(50);
      assertThatThrownBy(() -> asked.get(10, TimeUnit.SECONDS)).hasMessageContaining("50 ms");
      requests.poll(10, TimeUnit.SECONDS);
    }
    assertThat(stage(LEASE)).isEqualTo(LEASE);
  }

  @Test
  void aPeerThatRefusesAtOnceIsAskedAgain() throws Exception {
    for (int i = 0; i < 2 * FAILURES; i++) {
      assertThat(stage(REFUSAL)).isEqualTo(REFUSAL);
    }
  }

  @Test
  void aPeerThatAnswersNowAndThenIsAskedAgain() throws Exception {
    for (int i = 0; i < 2 * FAILURES; i++) {
      waitInVain();
      requests.poll(10, TimeUnit.SECONDS);
      assertThat(stage(LEASE)).isEqualTo(LEASE);
    }
  }

  private CompletableFuture<Object> stageBlocks(int blocks, int timeLeftMs) {
    List<Partitions> wanted = Collections.nCopies(blocks, new Partitions(1, 0, 1));
    return client.stage(peer, new Stage(3, timeLeftMs, wanted, 0, 1));
  }

  @Test
  void requestsToStageWaitUntilThePeerHasAnsweredOthers() throws Exception {
    List<CompletableFuture<Object>> asked = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      asked.add(stageBlocks(3_000, IN_TIME_MS));
    }
    for (CompletableFuture<Object> request : asked) {
      RpcResponseCallback only = requests.poll(10, TimeUnit.SECONDS);
      assertThat(requests.poll(100, TimeUnit.MILLISECONDS)).isNull();
      only.onSuccess(ByteBuffer.wrap(codec.encode(LEASE)));
      assertThat(request.get(10, TimeUnit.SECONDS)).isEqualTo(LEASE);
    }
  }

  @Test
  void smallRequestsToStageAreAskedAtTheSameTime() throws Exception {
    for (int i = 0; i < 20; i++) {
      stageBlocks(100, IN_TIME_MS);
    }
    for (int i = 0; i < 20; i++) {
      assertThat(requests.poll(10, TimeUnit.SECONDS)).isNotNull();
    }
  }

  @Test
  void aRequestThatHasWaitedItsWholeTimeIsNotAsked() throws Exception {
    CompletableFuture<Object> first = stageBlocks(3_000, IN_TIME_MS);
    CompletableFuture<Object> hasty = stageBlocks(3_000, 50);
    CompletableFuture<Object> last = stageBlocks(3_000, IN_TIME_MS);
    assertThatThrownBy(() -> hasty.get(10, TimeUnit.SECONDS)).isNotNull();
    nowMs.addAndGet(50);
    for (CompletableFuture<Object> asked : List.of(first, last)) {
      answer(LEASE);
      assertThat(asked.get(10, TimeUnit.SECONDS)).isInstanceOf(Staged.class);
    }
    assertThat(requests).isEmpty();
  }

  /** The caller counts the lease from its own request on. */
  @Test
  void waitingAtTheClientDoesNotShortenTheLease() throws Exception {
    CompletableFuture<Object> first = stageBlocks(3_000, IN_TIME_MS);
    CompletableFuture<Object> second = stageBlocks(3_000, IN_TIME_MS);
    nowMs.addAndGet(7_000);
    answer(LEASE);
    assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo(LEASE);
    answer(LEASE);
    assertThat(second.get(10, TimeUnit.SECONDS))
        .isEqualTo(LEASE.after(TimeUnit.SECONDS.toNanos(7)));
  }
}
