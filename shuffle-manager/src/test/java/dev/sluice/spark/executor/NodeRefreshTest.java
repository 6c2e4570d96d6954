// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.node.NodeDaemon;
import dev.sluice.node.NodeOptions;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An executor that no longer hands anything over, while its node daemon restarts. */
class NodeRefreshTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  @TempDir private Path directory;
  private final List<PeerAddress> published = new CopyOnWriteArrayList<>();
  private final CountDownLatch driverIsAsked = new CountDownLatch(1);
  private final CountDownLatch driverAnswers = new CountDownLatch(1);
  private boolean driverHangs;

  private NodeDaemon startNode() throws IOException {
    return NodeDaemon.start(
        NodeOptions.of(
            Map.of(
                "sluice.node.directories", directory.toString(),
                "sluice.node.socket", socket().toString(),
                "sluice.node.host", "127.0.0.1",
                "sluice.node.ports", "0",
                "sluice.node.provider", "soft",
                "sluice.node.http", "")));
  }

  private Path socket() {
    return directory.resolve("node.sock");
  }

  private DirectoryMessage publish(DirectoryMessage message) throws IOException {
    try {
      driverIsAsked.countDown();
      if (driverHangs) {
        driverAnswers.await();
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    published.add(((Publish) message).endpoint().peer());
    return message;
  }

  private NodeHandOver enter() throws IOException {
    NodeHandOver entered = handOver(Duration.ofSeconds(20));
    entered.ask();
    return entered;
  }

  private NodeHandOver handOver(Duration timeout) {
    return new NodeHandOver(
        new NodeAccess("ab", socket(), Optional.empty(), new NodeClient.Limits(DEADLINE, timeout)),
        new ProcessName("app-1-ab", "3"),
        "soft",
        new SluiceRuntime.Environment(
            new SparkConf(false),
            new SluiceRuntime.Executor("3", "127.0.0.1", 1),
            new SluiceRuntime.Network(null, List.of(), List.of(), "", null),
            this::publish,
            null,
            (_, _) -> null,
            List.of()),
        new KeptOutputs("3", Optional.empty(), this::publish, 0),
        new ShuffleCounters(),
        Thread::startVirtualThread);
  }

  @Test
  void aNodeThatIsAwayIsAskedAndFoundAgain() throws Exception {
    try (NodeHandOver handOver = handOver(Duration.ofSeconds(1))) {
      try (NodeDaemon _ = startNode()) {
        handOver.ask();
      }
      handOver.refresh();
      assertThatThrownBy(handOver::ask).isInstanceOf(IOException.class);
      try (NodeDaemon _ = startNode()) {
        handOver.ask();
      }
    }
    assertThat(published).hasSize(2);
  }

  @Test
  void neitherAKilledTaskNorTheExecutorsEndWaitsForTheDriver() throws Exception {
    driverHangs = true;
    try (NodeDaemon _ = startNode()) {
      NodeHandOver handOver = handOver(Duration.ofSeconds(20));
      CompletableFuture<Void> task = new CompletableFuture<>();
      CompletableFuture<Void> killed = new CompletableFuture<>();
      ask(handOver, task);
      driverIsAsked.await();
      ask(handOver, killed).interrupt();
      assertThat(killed).failsWithin(DEADLINE);
      CompletableFuture<Void> closed = CompletableFuture.runAsync(handOver::close);
      assertThat(closed).succeedsWithin(DEADLINE);
      driverAnswers.countDown();
      assertThat(task).succeedsWithin(DEADLINE);
      assertThat(published).hasSize(1);
    }
  }

  private static Thread ask(NodeHandOver handOver, CompletableFuture<Void> done) {
    return Thread.startVirtualThread(
        () -> {
          try {
            handOver.ask();
            done.complete(null);
          } catch (IOException e) {
            done.completeExceptionally(e);
          }
        });
  }

  @Test
  void theExecutorsEndEndsTheWaitForANodeThatIsAway() throws Exception {
    NodeHandOver handOver = handOver(Duration.ofHours(1));
    CompletableFuture<Void> task = new CompletableFuture<>();
    ask(handOver, task);
    Thread.sleep(100); // The attempt may not have begun yet, which is fine, too.
    handOver.close();
    assertThat(task).failsWithin(DEADLINE);
  }

  @Test
  void publishesTheNodesNewAddress() throws Exception {
    NodeDaemon first = startNode();
    try (NodeHandOver handOver = enter()) {
      handOver.refresh();
      assertThat(published).hasSize(1);
      PeerAddress before = published.getFirst();
      first.close();
      try (ServerSocket _ = new ServerSocket(before.port(), 1, InetAddress.getByName("127.0.0.1"));
          NodeDaemon _ = startNode()) {
        handOver.refresh();
        assertThat(published).hasSize(2);
        assertThat(published.getLast().id()).isNotEqualTo(before.id());
        assertThat(published.getLast().port()).isNotEqualTo(before.port());
      }
    } finally {
      first.close();
    }
  }
}
