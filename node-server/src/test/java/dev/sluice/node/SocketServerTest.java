// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.blocks.wire.ControlMessages.Refused;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.testkit.Poll;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that connect, but are no executors of an application. */
@Timeout(120)
class SocketServerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_ENTERING = 64;

  @TempDir private Path directory;
  private Path socket;
  private final AtomicBoolean lacksThreads = new AtomicBoolean();
  private NodeFolders folders;
  private Applications applications;
  private SocketServer server;

  @BeforeEach
  void listen() throws Exception {
    socket = directory.resolve("node.sock");
    Path local = Files.createDirectory(directory.resolve("local"));
    NodeOptions options =
        NodeOptions.of(
            Map.of(
                NodeSettings.DIRECTORIES.key(),
                local.toString(),
                NodeSettings.SOCKET.key(),
                socket.toString(),
                NodeSettings.HOST.key(),
                "127.0.0.1"));
    folders = NodeFolders.open(List.of(local));
    applications =
        new Applications(
            options,
            folders,
            (_, _, _) -> {
              throw new IOException("not served");
            });
    ThreadFactory threads = Thread.ofPlatform().daemon().factory();
    server = new SocketServer(options, applications, work -> thread(threads, work));
  }

  private Thread thread(ThreadFactory threads, Runnable work) {
    if (lacksThreads.getAndSet(false)) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    return threads.newThread(work);
  }

  @AfterEach
  void close() throws Exception {
    server.close();
    applications.close();
    folders.close();
  }

  private void assertIsAnswered() throws IOException {
    try (NodeChannel channel = NodeChannel.connect(socket)) {
      channel.send(new HandOver(5, 10, 0));
      assertThat(channel.receive())
          .isEqualTo(new Refused("the first message of an executor has to be RegisterExecutor"));
    }
  }

  @Test
  void aThreadThatCannotStartEndsOneConnectionAlone() throws Exception {
    lacksThreads.set(true);
    try (NodeChannel lost = NodeChannel.connect(socket)) {
      assertThatThrownBy(lost::receive).isInstanceOf(EOFException.class);
    }
    assertIsAnswered();
  }

  @Test
  void aUserHasAFewConnectionsThatHaveSentNothing() throws Exception {
    List<NodeChannel> silent = new ArrayList<>();
    try {
      for (int i = 0; i <= MAX_ENTERING; i++) {
        Poll.await("there is room to connect", TIMEOUT, () -> isConnected(silent));
      }
      Poll.await(
          "one too many is closed",
          TIMEOUT,
          () -> silent.stream().anyMatch(SocketServerTest::isEnded));
      assertThat(silent.stream().filter(SocketServerTest::isEnded)).hasSize(1);
    } finally {
      for (NodeChannel channel : silent) {
        channel.close();
      }
    }
    Poll.await("others are let in again", TIMEOUT, this::isAnswered);
  }

  /** The queue of connections that are not accepted yet has a limit. */
  private boolean isConnected(List<NodeChannel> channels) {
    try {
      channels.add(NodeChannel.connect(socket));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean isEnded(NodeChannel channel) {
    try {
      channel.receive(System.nanoTime() + 1_000_000);
      return false;
    } catch (IOException e) {
      return e instanceof EOFException;
    }
  }

  private boolean isAnswered() {
    try {
      assertIsAnswered();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void refusalsAreLoggedInOneLineAMinuteWithoutInvalidNames() throws Exception {
    try (LogCapture log = new LogCapture(ConnectionLog.class, Level.WARN)) {
      for (int i = 0; i < 3; i++) {
        try (NodeChannel channel = NodeChannel.connect(socket)) {
          channel.send(new RegisterExecutor(new ProcessName("forged\nERROR line", "3"), "guessed"));
          assertThat(channel.receive()).isInstanceOf(Refused.class);
        }
      }
      assertThat(log.messages())
          .containsExactly(
              "an executor with an invalid name is refused: the name of its application cannot be"
                  + " a folder's name; 1 refusals since this was last logged");
    }
  }
}
