// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.SlowFile;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.server.FakeAcceptor;
import dev.sluice.blocks.server.TestBlockServer;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Content;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.client.TransportClientFactory;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockServerClientTest {
  private static final int SHUFFLE = 3;

  /** Time until a withdrawn region is deregistered. */
  private static final long GRACE_MS = ControlMessages.Touch.INTERVAL_MS + 5_000;

  private static final int TIMEOUT_MS = 10_000;
  private static final TransportConf CONF =
      TestBlockServer.conf(Map.of("spark.sluice.io.connectionCreationTimeout", "5s"));

  @TempDir Path directory;
  private final AtomicLong clientMs = new AtomicLong();
  private TestBlockServer server;
  private TestMapOutputs outputs;
  private BlockServerClient client;
  private PeerAddress peer;

  @BeforeEach
  void open() {
    server = new TestBlockServer(directory, CONF);
    outputs = server.outputs;
    client = client(TIMEOUT_MS, TIMEOUT_MS);
    peer = server.peer();
  }

  private BlockServerClient client(int connectTimeoutMs, long resolveTimeoutMs) {
    return client(TestBlockServer.CLIENT, connectTimeoutMs, resolveTimeoutMs);
  }

  private BlockServerClient client(ProcessName self, int connectTimeoutMs, long resolveTimeoutMs) {
    TransferOptions options =
        TransferOptions.DEFAULT.with(o -> o.connectTimeoutMs = connectTimeoutMs);
    return new BlockServerClient(
        self,
        CONF,
        List.of(),
        options,
        resolveTimeoutMs,
        clientMs::get,
        Thread::startVirtualThread);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(2 * TIMEOUT_MS, TimeUnit.MILLISECONDS);
  }

  private static void assertFails(CompletableFuture<?> future, String... reasons) {
    assertThatThrownBy(() -> get(future))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(java.io.IOException.class)
        .hasMessageContainingAll(reasons);
  }

  private static void awaitTrue(BooleanSupplier condition) throws InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.sleep(1);
    }
  }

  @Test
  void queuePairsAreExchanged() throws Exception {
    QueuePairAddress remote = get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));

    assertThat(remote).usingRecursiveComparison().isEqualTo(FakeAcceptor.queuePair(8));
    assertThat(server.acceptor.events).containsExactly("accepted client 7");
  }

  @Test
  void aPeerOfAnotherProviderIsRefused() {
    assertFails(
        client.exchange(peer, "verbs", FakeAcceptor.queuePair(7)),
        "server at localhost",
        "refuses",
        "the RDMA provider is soft here, but verbs at client");
    assertThat(server.acceptor.events).isEmpty();
  }

  /** It listens at the address of the executor that has the locations. */
  @Test
  void anotherExecutorIsNotTakenForOneThatIsGone() {
    PeerAddress gone = new PeerAddress("gone", "localhost", peer.port());
    assertFails(
        client.exchange(gone, "soft", FakeAcceptor.queuePair(7)),
        "this is server of app and not gone of app");
    assertThat(server.acceptor.events).isEmpty();
  }

  @Test
  void anExecutorOfAnotherApplicationIsNotTakenForOneOfThis() {
    ProcessName other = new ProcessName("other", "client");
    try (BlockServerClient stranger = client(other, TIMEOUT_MS, TIMEOUT_MS)) {
      assertFails(
          stranger.exchange(peer, "soft", FakeAcceptor.queuePair(7)),
          "this is server of app and not server of other");
    }
    assertThat(server.acceptor.events).isEmpty();
  }

  /** Another incarnation, or another application, has the port by now. */
  @Test
  void anotherProcessAnswersNoQuestion() throws Exception {
    outputs.write(SHUFFLE, 1, 10);
    get(client.resolve(peer, SHUFFLE, new long[] {1}));
    PeerAddress gone = new PeerAddress("gone", "localhost", peer.port());
    String isNot = "this is server of app and not gone of app";
    Stage stage = stage(TIMEOUT_MS, new Partitions(1, 0, 1));

    assertFails(client.resolve(gone, SHUFFLE, new long[] {1}), "gone at", "refuses", isNot);
    assertThat(get(client.stage(gone, stage))).isEqualTo(new NotStaged(true, isNot));

    assertThat(get(client.stage(peer, stage))).isInstanceOf(Staged.class);
  }

  @Test
  void anotherProcessTakesNoNotice() throws Exception {
    outputs.write(SHUFFLE, 1, 10);
    outputs.write(4, 1, 10);
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    get(client.resolve(peer, SHUFFLE, new long[] {1}));
    server.nowMs.set(5_000);
    PeerAddress gone = new PeerAddress("gone", "localhost", peer.port());
    client.touch(gone, SHUFFLE);
    client.released(gone, 7);
    assertThatThrownBy(() -> get(client.resolve(gone, SHUFFLE + 7, new long[] {1})))
        .as("earlier messages have arrived")
        .isInstanceOf(ExecutionException.class);

    assertThat(server.acceptor.events).containsExactly("accepted client 7");
    assertThat(resolve(4, 1).segment().isRegistered()).isFalse();
    server.nowMs.addAndGet(GRACE_MS);
    outputs.write(4, 2, 10);
    assertThat(resolve(4, 2).segment().isRegistered()).as("the other shuffle was idle").isTrue();
  }

  @Test
  void aServerWithoutAFreeQueuePairReportsTheReason() {
    assertFails(
        client.exchange(peer, "soft", FakeAcceptor.queuePair(FakeAcceptor.REFUSED_QP)),
        "ibv_create_qp",
        "no queue pair is idle");
  }

  @Test
  void theServerLearnsOfReleasedQueuePairs() throws Exception {
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    client.released(peer, 7);

    awaitTrue(() -> server.acceptor.events.contains("disconnected client 7"));
  }

  @Test
  void locationsAreResolvedInOrder() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 5, 10, 20);
    List<MapOutputLocation> locations = get(client.resolve(peer, SHUFFLE, new long[] {9, 5}));

    assertThat(locations).hasSize(2).first().isNull();
    assertThat(locations.getLast().mapId()).isEqualTo(5);
    assertThat(server.domain.read(server.registry.output(SHUFFLE, 5).header().data()))
        .isEqualTo(data);
  }

  @Test
  void largeRequestsAreSplit() throws Exception {
    outputs.write(SHUFFLE, 5_000, 10);
    long[] mapIds = LongStream.range(0, 10_000).toArray();
    List<MapOutputLocation> locations = get(client.resolve(peer, SHUFFLE, mapIds));

    assertThat(locations).hasSize(10_000);
    assertThat(locations.get(5_000)).isNotNull();
    assertThat(locations.stream().filter(location -> location != null)).hasSize(1);
  }

  @Test
  void resolvingNothingIsAnswered() throws Exception {
    assertThat(get(client.resolve(peer, SHUFFLE, new long[0]))).isEmpty();
  }

  @Test
  void aTouchKeepsTheShuffleFromEviction() throws Exception {
    outputs.write(SHUFFLE, 1, 10);
    outputs.write(4, 1, 10);
    get(client.resolve(peer, SHUFFLE, new long[] {1}));
    RemoteRegion data = server.registry.output(SHUFFLE, 1).header().data();
    server.nowMs.set(5_000);
    client.touch(peer, SHUFFLE);

    assertThat(resolve(4, 1).segment().isRegistered()).isFalse();
    assertThat(server.domain.read(data)).isNotNull();
  }

  @Test
  void aTouchConnectsWhereNoConnectionIs() throws Exception {
    client.released(peer, 6);
    client.touch(peer, SHUFFLE);
    awaitTrue(
        () -> {
          client.released(peer, 7);
          return server.acceptor.events.contains("disconnected client 7");
        });

    assertThat(server.acceptor.events).doesNotContain("disconnected client 6");
  }

  @Test
  void aSecondTouchWithinTheIntervalIsNotSent() throws Exception {
    outputs.write(SHUFFLE, 1, 10);
    outputs.write(4, 1, 10);
    get(client.resolve(peer, SHUFFLE, new long[] {1}));
    client.touch(peer, SHUFFLE);
    get(client.resolve(peer, SHUFFLE + 7, new long[] {1}));
    server.nowMs.set(5_000);
    client.touch(peer, SHUFFLE);
    assertThat(resolve(4, 1).segment().isRegistered()).isFalse();
    server.nowMs.addAndGet(GRACE_MS);
    outputs.write(4, 2, 10);
    assertThat(resolve(4, 2).segment().isRegistered()).isTrue();
  }

  private static Stage stage(int timeLeftMs, Partitions... wanted) {
    return new Stage(SHUFFLE, timeLeftMs, List.of(wanted), 0, 1 << 20);
  }

  @Test
  void stagedMapOutputsComeWithTheirTables() throws Exception {
    outputs.write(SHUFFLE, 1, new int[10_000]);
    outputs.write(SHUFFLE, 2, 10, 20);
    assertThat(resolve(SHUFFLE, 1).segment().isRegistered()).isFalse();
    resolve(SHUFFLE, 2);
    Stage stage = stage(TIMEOUT_MS, new Partitions(1, 0, 9_000), new Partitions(2, 1, 2));

    Staged staged = (Staged) get(client.stage(peer, stage));

    assertThat(staged.region().length()).isEqualTo(20);
    assertThat(staged.tables().getFirst()).hasSize(MapOutputHeader.LONGS + 18_000);
    long[] last = staged.tables().getLast();
    assertThat(MapOutputHeader.of(2, last, 0).data().length()).isEqualTo(30);
    assertThat(TableEntry.offset(last[4])).isEqualTo(10);
  }

  /** More requests than each peer may have there at a time, and than lanes read. */
  @Test
  void requestsOfManyPeersWaitUntilTheyAreAnswered() throws Exception {
    outputs.write(SHUFFLE, 1, new int[10_000]);
    outputs.write(SHUFFLE, 2, new int[10_000]);
    resolve(SHUFFLE, 1);
    resolve(SHUFFLE, 2);
    List<BlockServerClient> peers = new ArrayList<>();
    List<CompletableFuture<Object>> answers = new ArrayList<>();
    try (SlowFile disk = SlowFile.inPlaceOf(outputs.index(SHUFFLE, 1))) {
      for (int i = 0; i < 2; i++) {
        client.stage(peer, request(1, 1));
      }
      SlowFile.awaitReaders(2);
      for (int i = 0; i < 4; i++) {
        peers.add(client(new ProcessName("app", "client-" + i), TIMEOUT_MS, TIMEOUT_MS));
        for (int k = 0; k < 40; k++) {
          answers.add(peers.getLast().stage(peer, request(2, 4_000)));
        }
      }
      for (BlockServerClient each : peers) {
        get(each.resolve(peer, SHUFFLE, new long[] {2})); // After its requests.
      }
      disk.answer();
      for (CompletableFuture<Object> answer : answers) {
        assertThat(get(answer)).matches(got -> ((Staged) got).tables().size() == 4_000);
      }
    } finally {
      peers.forEach(BlockServerClient::close);
    }
  }

  private static Stage request(long mapId, int partitions) {
    return stage(
        6 * TIMEOUT_MS,
        IntStream.range(0, partitions)
            .mapToObj(p -> new Partitions(mapId, p, p + 1))
            .toArray(Partitions[]::new));
  }

  @Test
  void aPeerThatCannotBeAskedToStageIsAFailure() throws Exception {
    server.stop();
    awaitRefusal();
    Stage stage = stage(TIMEOUT_MS, new Partitions(1, 0, 1));
    assertFails(client.stage(peer, stage), "No connection to server");
  }

  /** A server that is being stopped accepts and resets connections for a moment. */
  private void awaitRefusal() throws IOException {
    boolean refused = false;
    while (!refused) {
      try (Socket _ = new Socket("localhost", peer.port())) {
        Thread.onSpinWait();
      } catch (ConnectException e) {
        refused = true;
      }
    }
  }

  private MapOutputLocation resolve(int shuffleId, long mapId) throws Exception {
    return get(client.resolve(peer, shuffleId, new long[] {mapId})).getFirst();
  }

  private PeerChannel channel(Executor threads) {
    MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
    return new PeerChannel(peer, null, threads, codec, null, clientMs::get);
  }

  @Test
  void aTouchIsDueOncePerShuffleAndInterval() {
    PeerChannel channel = channel(Runnable::run);
    assertThat(channel.touchIsDue(1)).isTrue();
    assertThat(channel.touchIsDue(2)).isTrue();
    clientMs.set(ControlMessages.Touch.INTERVAL_MS - 1);
    assertThat(channel.touchIsDue(1)).isFalse();
    clientMs.set(ControlMessages.Touch.INTERVAL_MS);
    assertThat(channel.touchIsDue(1)).isTrue();
    assertThat(channel.touchIsDue(1)).isFalse();
  }

  @Test
  void theTouchesOfTheLatestShufflesAreRemembered() {
    PeerChannel channel = channel(Runnable::run);
    for (int shuffleId = 0; shuffleId <= PeerChannel.TOUCHES; shuffleId++) {
      assertThat(channel.touchIsDue(shuffleId)).isTrue();
    }
    assertThat(channel.touchIsDue(1)).isFalse();
    assertThat(channel.touchIsDue(PeerChannel.TOUCHES)).isFalse();
    assertThat(channel.touchIsDue(0)).as("the earliest one is forgotten").isTrue();
  }

  @Test
  void aRequestThatIsNotAnsweredFailsAtItsDeadline() throws Exception {
    server.filesReady = new CountDownLatch(1);
    outputs.write(SHUFFLE, 1, 10);
    try (BlockServerClient hasty = client(TIMEOUT_MS, 50)) {
      assertFails(
          hasty.resolve(peer, SHUFFLE, new long[] {1}), "Resolve to server", "within 50 ms");
    }
  }

  @Test
  void aPeerThatDoesNotAnswerHasUntilTheConnectTimeoutToConnect() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getByName("localhost"));
        BlockServerClient hasty = client(50, TIMEOUT_MS)) {
      PeerAddress nobody = new PeerAddress("nobody", "localhost", mute.getLocalPort());
      assertFails(
          hasty.exchange(nobody, "soft", FakeAcceptor.queuePair(7)),
          "Connect to nobody",
          "within 50 ms");
    }
  }

  @Test
  void aServerThatGoesAwayFailsWaitingRequests() throws Exception {
    server.filesReady = new CountDownLatch(1);
    outputs.write(SHUFFLE, 1, 10);
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    CompletableFuture<?> waiting = client.resolve(peer, SHUFFLE, new long[] {1});
    server.stop();

    assertFails(waiting, "Resolve to server");
  }

  @Test
  void losingAPeerFailsWaitingRequests() throws Exception {
    server.filesReady = new CountDownLatch(1);
    outputs.write(SHUFFLE, 1, 10);
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    CompletableFuture<?> waiting = client.resolve(peer, SHUFFLE, new long[] {1});
    client.peerLost(peer);

    assertFails(waiting, "Resolve to server");
  }

  @Test
  void nothingIsLeftOfALostPeer() throws Exception {
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    client.peerLost(peer);
    client.released(peer, 7);

    assertThat(client.channels()).isZero();
  }

  @Test
  void aPeerKeepsItsConnectionUnderAnotherName() throws Exception {
    PeerAddress jobPort = new PeerAddress("job-port", peer.host(), peer.port());
    assertFails(client.resolve(jobPort, SHUFFLE, new long[] {1}), "this is");
    client.rename(jobPort, peer);
    client.released(peer, 7); // sent only if there is a connection
    awaitTrue(() -> server.acceptor.events.contains("disconnected client 7"));

    assertThat(client.channels()).isOne();
    client.rename(jobPort, peer); // There is none under this name.
    assertThat(get(client.resolve(peer, SHUFFLE, new long[] {1}))).hasSize(1);
    client.peerLost(peer);
    assertThat(client.channels()).isZero();
  }

  @Test
  void theServerNoticesThatAPeerLeaves() throws Exception {
    get(client.resolve(peer, SHUFFLE, new long[] {1}));
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    client.close();
    awaitTrue(() -> server.acceptor.events.contains("left client"));
  }

  @Test
  void peersThatAreAskedAfterTheyWereLostAreForgotten() throws Exception {
    server.stop();
    for (int id = 0; id < 10; id++) {
      PeerAddress gone = new PeerAddress("gone-" + id, "localhost", peer.port());
      assertFails(client.resolve(gone, SHUFFLE, new long[] {1}), "No connection to gone");
    }
    server.start(peer.port());
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    clientMs.addAndGet(PeerChannel.ABANDONED_AFTER_MS);

    client.touch(new PeerAddress("next", "localhost", peer.port()), SHUFFLE);

    assertThat(client.channels()).as("the connected channel and the new one").isEqualTo(2);
  }

  /** The request has found the peer's old channel when another peer is asked for the first time. */
  @Test
  void aChannelIsNotAbandonedBetweenTheRequestsLookAndItsUse() throws Exception {
    server.stop();
    assertFails(client.resolve(peer, SHUFFLE, new long[] {1}), "No connection to server");
    server.start(peer.port());
    clientMs.addAndGet(PeerChannel.ABANDONED_AFTER_MS);
    List<Partitions> wanted =
        new ArrayList<>(List.of(new Partitions(1, 0, 1))) {
          private static final long serialVersionUID = 1L;

          @Override
          public Iterator<Partitions> iterator() { // encodes the request
            client.touch(new PeerAddress("next", "localhost", peer.port()), SHUFFLE);
            return super.iterator();
          }
        };

    assertThat(get(client.stage(peer, new Stage(SHUFFLE, TIMEOUT_MS, wanted, 0, 1)))).isNotNull();
  }

  @Test
  void aRestartedServerIsFoundAgain() throws Exception {
    get(client.exchange(peer, "soft", FakeAcceptor.queuePair(7)));
    server.stop();
    server.start(peer.port());
    awaitTrue(
        () -> {
          clientMs.addAndGet(PeerChannel.RECONNECT_INTERVAL_MS);
          CompletableFuture<?> exchange = client.exchange(peer, "soft", FakeAcceptor.queuePair(8));
          return exchange.handle((answer, e) -> e == null).join();
        });
  }

  @Test
  void aRefusedConnectionIsNotTriedAgainAtOnce() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      port = socket.getLocalPort();
    }
    PeerAddress nobody = new PeerAddress(peer.id(), "localhost", port);
    assertFails(client.resolve(nobody, SHUFFLE, new long[] {1}), "No connection to server");
    server.stop();
    server.start(port);
    assertFails(client.resolve(nobody, SHUFFLE, new long[] {1}), "No connection to server");
    clientMs.addAndGet(PeerChannel.RECONNECT_INTERVAL_MS);
    assertThat(get(client.resolve(nobody, SHUFFLE, new long[] {1}))).containsOnlyNulls();
  }

  @Test
  void withoutAThreadToConnectRequestsFailAndALaterOneRetries() {
    AtomicInteger attempts = new AtomicInteger();
    PeerChannel channel =
        channel(
            _ -> {
              attempts.incrementAndGet();
              throw new OutOfMemoryError("unable to create native thread");
            });
    Addressed message = toServer(new ControlMessages.Touch(SHUFFLE));
    for (int i = 0; i < 2; i++) {
      assertFails(channel.request(message, TIMEOUT_MS, null), "No connection to server");
      channel.send(message);
    }
    assertThat(attempts).hasValue(1);
    clientMs.addAndGet(PeerChannel.RECONNECT_INTERVAL_MS);
    assertFails(channel.request(message, TIMEOUT_MS, null), "No connection to server");
    assertThat(attempts).hasValue(2);
  }

  @Test
  void aHostThatCannotBeResolvedFails() {
    PeerAddress nowhere = new PeerAddress("nowhere", "host.invalid", 1);
    assertFails(client.resolve(nowhere, SHUFFLE, new long[] {1}), "No connection to nowhere");
  }

  @Test
  void aClosedClientAnswersAtOnce() {
    client.close();
    assertFails(client.resolve(peer, SHUFFLE, new long[] {1}), "closed");
    client.touch(peer, SHUFFLE);
    client.released(peer, 1);
  }

  private static Addressed toServer(Content content) {
    return new Addressed(TestBlockServer.SELF, TestBlockServer.CLIENT.id(), content);
  }

  @Test
  void garbageGetsAFailureAndTheServerStays() throws Exception {
    MessageCodec codec = new MessageCodec(ControlMessages.TYPES);
    Random random = new Random(9);
    try (TransportContext context = new TransportContext(CONF, new NoOpRpcHandler());
        TransportClientFactory factory = context.createClientFactory();
        TransportClient raw = factory.createClient("localhost", server.port())) {
      for (int i = 0; i < 500; i++) {
        byte[] bytes = new byte[random.nextInt(40)];
        random.nextBytes(bytes);
        raw.send(ByteBuffer.wrap(bytes));
        assertThatThrownBy(() -> raw.sendRpcSync(ByteBuffer.wrap(bytes), TIMEOUT_MS))
            .hasMessageContaining("MessageException");
      }
      byte[] touch = codec.encode(toServer(new ControlMessages.Touch(1)));
      assertThatThrownBy(() -> raw.sendRpcSync(ByteBuffer.wrap(touch), TIMEOUT_MS))
          .hasMessageContaining("is not a request");
      byte[] large =
          codec.encode(
              toServer(new ControlMessages.Resolve(1, new long[ControlMessages.MAX_RESOLVE + 1])));
      assertThatThrownBy(() -> raw.sendRpcSync(ByteBuffer.wrap(large), TIMEOUT_MS))
          .hasMessageContaining("request for 4097 map outputs, but at most 4096 are allowed");
    }
    assertThat(get(client.resolve(peer, SHUFFLE, new long[] {1}))).containsOnlyNulls();
  }
}
