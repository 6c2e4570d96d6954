// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executor's side, with a daemon that answers when the test tells it to. */
class NodeClientTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final NodeClient.Limits LIMITS = new NodeClient.Limits(TIMEOUT, TIMEOUT);
  private static final int SHUFFLE = 5;

  @TempDir private Path directory;
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch answering = new CountDownLatch(1);
  private final AtomicInteger connections = new AtomicInteger();

  /** Number of times that the daemon dies before it answers. */
  private final AtomicInteger kills = new AtomicInteger();

  /** Spark interrupts tasks that it kills, for example speculative ones. */
  @Test
  void aKilledTaskDoesNotBreakTheConnectionOfOthers() throws Exception {
    TestMapOutputs outputs =
        new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    outputs.write(SHUFFLE, 1, 1_000);
    outputs.write(SHUFFLE, 2, 1_000);
    Path socket = directory.resolve("node.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      Thread.ofVirtual().start(() -> serve(server));
      try (NodeClient client = NodeClient.enter(socket, new ProcessName("app", "3"), "", LIMITS)) {
        FutureTask<Void> killed = handingOver(client, outputs, 1);
        Thread task = Thread.ofPlatform().start(killed);
        asked.await();
        FutureTask<Void> other = handingOver(client, outputs, 2);
        Thread.ofPlatform().start(other);
        task.interrupt();
        assertThatThrownBy(() -> killed.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
            .hasMessageContaining("interrupted");
        answering.countDown();

        other.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(connections).hasValue(1);
        assertThat(directory.resolve("5-2")).exists();
        assertThat(directory.resolve("5-1")).doesNotExist();
      }
    }
  }

  @Test
  void aDaemonThatIsKilledAgainAndAgainIsWaitedFor() throws Exception {
    TestMapOutputs outputs =
        new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    outputs.write(SHUFFLE, 1, 1_000);
    Path socket = directory.resolve("node.sock");
    answering.countDown();
    kills.set(4);
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      Thread.ofVirtual().start(() -> serve(server));
      try (NodeClient client = NodeClient.enter(socket, new ProcessName("app", "3"), "", LIMITS)) {
        client.handOver(SHUFFLE, 1, outputs.find(SHUFFLE, 1));
      }
      assertThat(connections).hasValue(5);
      assertThat(directory.resolve("5-1")).exists();
    }
  }

  /** The daemon does not answer: the wait ends with the time for the hand-over. */
  @Test
  void anExecutorThatStopsWhileItEntersLeavesNothing() throws Exception {
    TestMapOutputs outputs =
        new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    outputs.write(SHUFFLE, 1, 1_000);
    Path socket = directory.resolve("node.sock");
    NodeClient.Limits limits = new NodeClient.Limits(Duration.ofSeconds(2), TIMEOUT);
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      FutureTask<Object> left = new FutureTask<>(() -> dieAndThenSayNothing(server));
      Thread.ofVirtual().start(left);
      NodeClient client = NodeClient.enter(socket, new ProcessName("app", "3"), "", limits);
      FutureTask<Void> handOver = handingOver(client, outputs, 1);
      Thread.ofPlatform().start(handOver);
      asked.await();
      client.close();
      assertThatThrownBy(() -> handOver.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
          .hasMessageContaining("was not handed over");
      assertThatThrownBy(() -> left.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
          .cause()
          .isInstanceOf(EOFException.class);
      assertThat(directory.resolve("5-1")).doesNotExist();
      assertThatThrownBy(() -> client.handOver(SHUFFLE, 1, outputs.find(SHUFFLE, 1)))
          .hasMessageContaining("the executor is stopping");
    }
  }

  private Object dieAndThenSayNothing(ServerSocketChannel server) throws Exception {
    try (NodeChannel first = new NodeChannel(server.accept())) {
      first.receive();
      first.send(new Registered("node", "127.0.0.1", 7, "soft", List.of(directory.toString())));
      first.receive();
    }
    try (NodeChannel second = new NodeChannel(server.accept())) {
      second.receive();
      asked.countDown();
      return second.receive();
    }
  }

  /** Tasks share the time: it does not begin again for each. */
  @Test
  void aDaemonThatIsAwayForLongerThanItsLimitIsNotWaitedForAgain() throws Exception {
    TestMapOutputs outputs =
        new TestMapOutputs(Files.createDirectory(directory.resolve("executor")));
    outputs.write(SHUFFLE, 1, 1_000);
    Path socket = directory.resolve("node.sock");
    NodeClient.Limits limits = new NodeClient.Limits(Duration.ofSeconds(5), Duration.ofSeconds(2));
    answering.countDown();
    NodeClient client;
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      kills.set(Integer.MAX_VALUE);
      Thread.ofVirtual().start(() -> serve(server));
      client = NodeClient.enter(socket, new ProcessName("app", "3"), "", limits);
    }
    long endNanos = System.nanoTime() + TIMEOUT.toNanos();
    try (client) {
      for (int task = 0; task < 50; task++) {
        FutureTask<Void> handOver = handingOver(client, outputs, 1);
        Thread.ofPlatform().start(handOver);
        assertThatThrownBy(() -> handOver.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
            .isInstanceOf(ExecutionException.class)
            .hasMessageContaining("was not handed over");
        assertThat(System.nanoTime() - endNanos).as("all tasks share one time limit").isNegative();
      }
      kills.set(0);
      Files.delete(socket);
      try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
        server.bind(UnixDomainSocketAddress.of(socket));
        Thread.ofVirtual().start(() -> serve(server));
        client.handOver(SHUFFLE, 1, outputs.find(SHUFFLE, 1));
      }
    }
  }

  private static FutureTask<Void> handingOver(
      NodeClient client, TestMapOutputs outputs, long mapId) {
    return new FutureTask<>(
        () -> {
          client.handOver(SHUFFLE, mapId, outputs.find(SHUFFLE, mapId));
          return null;
        });
  }

  private void serve(ServerSocketChannel server) {
    while (true) {
      try (NodeChannel channel = new NodeChannel(server.accept())) {
        connections.incrementAndGet();
        channel.receive();
        channel.send(new Registered("node", "127.0.0.1", 7, "soft", List.of(directory.toString())));
        while (channel.receive() instanceof HandOver) {
          asked.countDown();
          answering.await();
          if (kills.getAndDecrement() > 0) {
            throw new IOException("killed");
          }
          channel.send(new Accepted());
        }
      } catch (IOException | InterruptedException e) {
        if (!server.isOpen()) {
          return;
        }
      }
    }
  }
}
