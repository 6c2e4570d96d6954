// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.node.NodeDaemon;
import dev.sluice.node.NodeOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.TransferOptions;
import dev.sluice.spark.driver.DriverRuntime.DecisionTimes;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Kept;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.NoBroadcasts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Decisions of the driver about a node that no longer answers. */
class NodeLifetimesTest {
  private static final int DEADLINE_SECONDS = 30;
  private static final long CHECK_TIMEOUT_MS = 500;
  private static final long LAST_TRY_MS = 2_000;

  @TempDir private Path folder;

  private final LocationDirectory directory =
      new LocationDirectory(
          new LocationDirectory.Shipping(new NoBroadcasts(), Runnable::run, 1000),
          1000,
          _ -> true,
          _ -> {});
  private final AtomicLong nowNanos = new AtomicLong();
  private final List<String> lost = new CopyOnWriteArrayList<>();
  private final Set<String> tracked = new HashSet<>();
  private final List<String> unregistered = new CopyOnWriteArrayList<>();
  private BooleanSupplier takesNoConnections = () -> false;
  private Optional<Error> error = Optional.empty();
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final NodeLifetimes lifetimes = lifetimes(CHECK_TIMEOUT_MS);

  private NodeLifetimes lifetimes(long checkTimeoutMs) {
    return new NodeLifetimes(
        directory,
        new BlockServerClient(
            new ProcessName("application", "driver"),
            new TransportConf("shuffle", MapConfigProvider.EMPTY),
            List.of(),
            TransferOptions.DEFAULT,
            10_000,
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
            Thread::startVirtualThread),
        new Tracked(),
        new DecisionTimes(checkTimeoutMs, 1_000, LAST_TRY_MS),
        new AwayNodes(
            TimeUnit.SECONDS.toNanos(120), _ -> takesNoConnections.getAsBoolean(), nowNanos::get),
        nowNanos::get,
        timer,
        Thread::startVirtualThread);
  }

  @AfterEach
  void close() {
    timer.shutdownNow();
    lifetimes.close();
  }

  @Test
  void mapOutputsOfLostExecutorsAreLostAfterAMinuteWithoutAnAnswerOfTheirNode() throws Exception {
    PeerAddress node = new PeerAddress("node", "127.0.0.1", unusedPort());
    directory.handle(new Publish(new ExecutorEndpoint("1", node, "soft"), List.of()));
    directory.handle(new Publish(new ExecutorEndpoint("2", node, "soft"), List.of()));
    directory.executorLost("1");

    renew();
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
    renew();
    assertThat(lost).isEmpty();

    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
    renew();
    assertThat(lost).containsExactly("1");

    directory.executorLost("2");
    renew();
    assertThat(lost).containsExactly("1", "2");
    assertThat(directory.nodes()).isEmpty();
  }

  /** The daemon refuses connections, as while it restarts. */
  @Test
  void nothingIsLostAtANodeThatTakesNoConnectionsBeforeItsLimitIsOver() throws Exception {
    takesNoConnections = () -> true;
    PeerAddress node = new PeerAddress("node", "127.0.0.1", unusedPort());
    directory.handle(new Publish(new ExecutorEndpoint("1", node, "soft"), List.of()));
    directory.executorLost("1");
    renew();
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(60));
    renew();
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(59));
    renew();
    lifetimes.check(node).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    assertThat(lost).isEmpty();
    assertThat(directory.nodes()).containsExactly(node);

    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    renew();
    assertThat(lost).containsExactly("1");
  }

  /** The daemon's port opens now and then, and the daemon ends at the first request. */
  @Test
  void mapOutputsOfLostExecutorsAreLostAtTheLimitOfANodeThatComesAndGoes() throws Exception {
    PeerAddress node = new PeerAddress("node", "127.0.0.1", unusedPort());
    directory.handle(new Publish(new ExecutorEndpoint("1", node, "soft"), List.of()));
    directory.executorLost("1");
    for (int seconds = 0; seconds < 120; seconds += 30) {
      boolean refuses = seconds % 60 == 0;
      takesNoConnections = () -> refuses;
      renew();
      assertThat(lost).as("after %d s", seconds).isEmpty();
      nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
    }
    takesNoConnections = () -> true;
    renew();
    assertThat(lost).containsExactly("1");
  }

  @Test
  void mapOutputsThatStayedWithAnExecutorAreUnregisteredWhenItIsGone() throws Exception {
    directory.handle(new Kept("1", 5, 10, "the node is drained", Optional.empty()));
    directory.handle(new Kept("1", 6, 11, "the node is drained", Optional.empty()));
    directory.handle(new Kept("2", 5, 12, "the node is drained", Optional.empty()));
    lifetimes.unregisterKept();
    assertThat(unregistered).isEmpty();

    directory.executorLost("1");
    lifetimes.unregisterKept();
    assertThat(unregistered).containsExactly("1: 5 [10]", "1: 6 [11]");

    unregistered.clear();
    directory.unregister(5);
    renew();
    assertThat(unregistered)
        .as("repeated, as Spark may have registered it late")
        .containsExactly("1: 6 [11]");
  }

  /** The daemon hangs: the system accepts connections to it, and no answer comes. */
  @Test
  void mapOutputsOfAllLostExecutorsAreLostIfAReportedNodeDoesNotAnswerTheDriver() throws Exception {
    try (ServerSocket hung = new ServerSocket(0)) {
      PeerAddress node = new PeerAddress("node", "127.0.0.1", hung.getLocalPort());
      for (String executorId : List.of("1", "2", "3")) {
        directory.handle(new Publish(new ExecutorEndpoint(executorId, node, "soft"), List.of()));
      }
      directory.executorLost("1");
      directory.executorLost("2");

      CompletableFuture<Void> first = lifetimes.check(node);
      assertThat(lifetimes.check(node)).as("asked once for all").isSameAs(first);
      first.get(DEADLINE_SECONDS, TimeUnit.SECONDS);

      assertThat(lost).containsExactlyInAnyOrder("1", "2");
      assertThat(directory.handle(new Find("1")))
          .isCompletedWithValue(new Found(true, Optional.empty()));
      assertThat(directory.handle(new Find("3")))
          .isCompletedWithValue(new Found(false, Optional.of(node)));
      lost.clear();
      lifetimes.check(node).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      assertThat(lost).isEmpty();
    }
  }

  /** The node has rebooted. Spark may notice that only after the node is back. */
  @Test
  void mapOutputsOfLostExecutorsAreLostIfTheirNodeBeganAnew() throws Exception {
    try (NodeDaemon _ = startNode();
        NodeClient entered = enter("3")) {
      PeerAddress now = entered.endpoint().peer();
      PeerAddress before = new PeerAddress("run-before", now.host(), now.port());
      directory.handle(new Publish(new ExecutorEndpoint("1", before, "soft"), List.of()));
      directory.handle(new Publish(new ExecutorEndpoint("2", before, "soft"), List.of()));
      directory.handle(new Publish(new ExecutorEndpoint("3", now, "soft"), List.of()));
      directory.executorLost("1");
      renew();
      assertThat(lost).containsExactly("1");

      directory.executorLost("2");
      renew();
      assertThat(lost).containsExactly("1", "2");
      assertThat(directory.nodes()).containsExactly(now);
    }
  }

  @Test
  void mapOutputsOfLostExecutorsRemainIfTheirNodeWasRestarted() throws Exception {
    try (NodeDaemon _ = startNode();
        NodeClient entered = enter("3")) {
      PeerAddress now = entered.endpoint().peer();
      NodeId before = new NodeId("run", NodeId.parse(now.id()).since());
      PeerAddress node = new PeerAddress(before.toString(), now.host(), now.port());
      directory.handle(new Publish(new ExecutorEndpoint("1", node, "soft"), List.of()));
      directory.executorLost("1");
      renew();
      assertThat(lost).isEmpty();
      assertThat(directory.nodes()).containsExactly(now);
    }
  }

  /** Connections are refused meanwhile. */
  @Test
  void nothingIsLostAtANodeThatIsBeingStarted() throws Exception {
    PeerAddress node = stoppedNode();
    try (NodeLifetimes patient = lifetimes(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS))) {
      CompletableFuture<Void> decided = patient.check(node);
      try (NodeDaemon _ = startNode()) {
        decided.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        assertThat(lost).isEmpty();
        assertThat(directory.nodes()).singleElement().isNotEqualTo(node);
      }
    }
  }

  /** The driver gets no answer, and finds then that the daemon takes connections. */
  @Test
  void nothingIsLostAtANodeThatListensJustAfterItWasAskedLast() throws Exception {
    PeerAddress node = stoppedNode();
    AtomicReference<NodeDaemon> started = new AtomicReference<>();
    takesNoConnections =
        () -> {
          try {
            started.set(startNode());
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          return false;
        };
    lifetimes.check(node).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    try (NodeDaemon _ = started.get()) {
      assertThat(lost).isEmpty();
      assertThat(directory.nodes()).singleElement().isNotEqualTo(node);
    }
  }

  /** Stops a node that has map outputs of a lost executor. */
  private PeerAddress stoppedNode() throws Exception {
    try (NodeDaemon _ = startNode();
        NodeClient entered = enter("1")) {
      PeerAddress node = entered.endpoint().peer();
      directory.handle(new Publish(new ExecutorEndpoint("1", node, "soft"), List.of()));
      directory.executorLost("1");
      return node;
    }
  }

  private NodeDaemon startNode() throws IOException {
    return NodeDaemon.start(
        NodeOptions.of(
            Map.of(
                "sluice.node.directories", folder.toString(),
                "sluice.node.socket", folder.resolve("node.sock").toString(),
                "sluice.node.host", "127.0.0.1",
                "sluice.node.provider", "soft",
                "sluice.node.http", "")));
  }

  private NodeClient enter(String executorId) throws IOException {
    return NodeClient.enter(
        folder.resolve("node.sock"),
        new ProcessName("application", executorId),
        "",
        new NodeClient.Limits(
            Duration.ofSeconds(DEADLINE_SECONDS), Duration.ofSeconds(DEADLINE_SECONDS)));
  }

  @Test
  void anUnknownNodeIsNotAsked() throws Exception {
    PeerAddress unknown = new PeerAddress("other", "127.0.0.1", unusedPort());
    assertThat(lifetimes.check(unknown)).isCompleted();
  }

  /** A timer stops after an error. */
  @Test
  void anErrorEndsNoRenewals() throws Exception {
    error = Optional.of(new NoClassDefFoundError("of the test"));
    renew();
  }

  /** Simulates dynamic allocation in an application that runs for months. */
  @Test
  void executorsThatAreGoneAreForgottenWhenNoMapStatusNamesThem() throws Exception {
    PeerAddress node = new PeerAddress("node", "127.0.0.1", unusedPort());
    for (int executor = 0; executor < 200; executor++) {
      String id = "" + executor;
      directory.handle(new Publish(new ExecutorEndpoint(id, node, "soft"), List.of()));
      tracked.add(id);
    }
    for (int executor = 0; executor < 150; executor++) {
      directory.executorLost("" + executor);
    }
    tracked.removeIf(id -> Integer.parseInt(id) < 140);

    renewInAMinute();
    assertThat(directory.goneAtNodes()).as("tasks may have ended just now").hasSize(150);
    renewInAMinute();
    assertThat(directory.goneAtNodes()).hasSize(10).isSubsetOf(tracked);
    assertThat(lost).isEmpty();
    assertThat(directory.nodes()).containsExactly(node);
  }

  private void renewInAMinute() {
    nowNanos.addAndGet(TimeUnit.SECONDS.toNanos(60));
    lifetimes.forgetUnneeded();
  }

  private void renew() throws Exception {
    lifetimes.renew().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  private static int unusedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private final class Tracked implements NodeLifetimes.MapOutputs {
    @Override
    public int[] liveShuffles() {
      error.ifPresent(
          thrown -> {
            throw thrown;
          });
      return new int[0];
    }

    @Override
    public Set<String> executors() {
      return Set.copyOf(tracked);
    }

    @Override
    public int unregister(String executorId, int shuffleId, Set<Long> mapIds) {
      unregistered.add(executorId + ": " + shuffleId + " " + mapIds);
      return mapIds.size();
    }

    @Override
    public void lost(String executorId) {
      lost.add(executorId);
    }
  }
}
