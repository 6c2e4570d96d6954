// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.NodeMessages;
import dev.sluice.blocks.wire.NodeMessages.Accepted;
import dev.sluice.blocks.wire.NodeMessages.HandOver;
import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.blocks.wire.NodeMessages.Registered;
import dev.sluice.blocks.wire.ProcessName;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The test is the other end, message by message or byte by byte. */
@Timeout(60)
class NodeChannelTest {
  private static final long LONG_MS = 30_000;
  private static final long SHORT_MS = 50;
  private static final HandOver REQUEST = new HandOver(5, 1, 0);

  /** More than a socket's buffer takes. */
  private static final RegisterExecutor LARGE =
      new RegisterExecutor(new ProcessName("app", "3"), "s".repeat(900_000));

  @TempDir Path directory;
  private NodeChannel channel;
  private SocketChannel socket;
  private NodeChannel daemon;
  private Thread asker;

  @BeforeEach
  void connect() throws IOException {
    Path path = directory.resolve("node.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(path));
      channel = NodeChannel.connect(path);
      socket = server.accept();
    }
    daemon = new NodeChannel(socket);
  }

  @AfterEach
  void close() throws Exception {
    channel.close();
    daemon.close();
    if (asker != null) {
      asker.join();
    }
  }

  private Object ask(Object request, long timeoutMs) throws Exception {
    return channel.ask(request, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs));
  }

  /** Runs the call on the thread {@link #asker}. */
  private <T> FutureTask<T> start(Callable<T> call) {
    FutureTask<T> task = new FutureTask<>(call);
    asker = Thread.ofPlatform().daemon().start(task);
    return task;
  }

  /** Answer of a node with this port. */
  private static Registered entered(int port) {
    return new Registered("node", "127.0.0.1", port, "soft", List.of("/data"));
  }

  private static ByteBuffer frame(Object message) throws IOException {
    byte[] bytes =
        new MessageCodec(NodeMessages.TYPES, List.of(ControlMessages.REFUSED)).encode(message);
    return ByteBuffer.allocate(Integer.BYTES + bytes.length).putInt(bytes.length).put(bytes).flip();
  }

  private void sendLength(int bytes) throws IOException {
    socket.write(ByteBuffer.allocate(Integer.BYTES).putInt(bytes).flip());
  }

  private void readAll(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      socket.read(bytes); // does not wait
    }
  }

  @Test
  void eachRequestHasItsAnswer() throws Exception {
    for (int i = 0; i < 3; i++) {
      HandOver request = new HandOver(5, i, 0);
      FutureTask<Object> answer = start(() -> ask(request, LONG_MS));
      assertThat(daemon.receive()).isEqualTo(request);
      daemon.send(entered(i));
      assertThat(answer.get()).isEqualTo(entered(i));
    }
  }

  @Test
  void anAnswerThatComesByteByByteIsPutTogether() throws Exception {
    FutureTask<Object> answer = start(() -> ask(REQUEST, LONG_MS));
    ByteBuffer frame = frame(entered(7));
    for (int i = 0; i < frame.capacity(); i++) {
      socket.write(frame.slice(i, 1));
      Thread.yield();
    }
    assertThat(answer.get()).isEqualTo(entered(7));
  }

  @Test
  void aRequestGoesOnWhereThereWasNoRoomForIt() throws Exception {
    FutureTask<Object> answer = start(() -> ask(LARGE, LONG_MS));
    ByteBuffer received = ByteBuffer.allocate(frame(LARGE).capacity());
    readAll(received);
    assertThat(received.flip()).isEqualTo(frame(LARGE));
    daemon.send(new Accepted());
    assertThat(answer.get()).isEqualTo(new Accepted());
  }

  @Test
  void aTruncatedAnswerIsAFailure() throws Exception {
    ByteBuffer frame = frame(entered(7));
    socket.write(frame.slice(0, frame.capacity() - 1));
    socket.shutdownOutput();
    assertThatThrownBy(() -> ask(REQUEST, LONG_MS))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith("failed: the connection was closed");
  }

  @Test
  void anAnswerThatIsTooLargeIsAFailure() throws Exception {
    sendLength((1 << 20) + 1);
    assertThatThrownBy(() -> ask(REQUEST, LONG_MS))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith("A message has a length of 1048577 bytes; 0 to 1048576 are allowed");
    sendLength(-1);
    assertThatThrownBy(() -> ask(REQUEST, LONG_MS))
        .hasMessageEndingWith("A message has a length of -1 bytes; 0 to 1048576 are allowed");
  }

  @Test
  void theDaemonTakesARequestWithALongSecretAndNoLargerOnes() throws Exception {
    RegisterExecutor request =
        new RegisterExecutor(new ProcessName("a".repeat(200), "3"), "s".repeat(16_000));
    channel.send(request);
    assertThat(daemon.receive()).isEqualTo(request);
    channel.send(new RegisterExecutor(new ProcessName("app", "3"), "s".repeat(16_400)));
    assertThatThrownBy(daemon::receive).hasMessageEndingWith("bytes; 0 to 16384 are allowed");
  }

  @Test
  void theDeadlineEndsWaitingForAnAnswer() {
    assertThatThrownBy(() -> ask(REQUEST, SHORT_MS)).hasMessageContaining("not answered in time");
  }

  @Test
  void theDeadlineEndsWaitingForTheRestOfAnAnswer() throws Exception {
    socket.write(frame(entered(7)).slice(0, 6));
    assertThatThrownBy(() -> ask(REQUEST, SHORT_MS)).hasMessageContaining("not answered in time");
  }

  @Test
  void theDeadlineEndsWaitingForRoom() {
    assertThatThrownBy(() -> ask(LARGE, SHORT_MS)).hasMessageContaining("not answered in time");
  }

  @Test
  void theDeadlineEndsWaitingForSomebodyElse() throws Exception {
    FutureTask<Object> answer = start(() -> ask(REQUEST, LONG_MS));
    assertThat(daemon.receive()).isEqualTo(REQUEST);
    assertThatThrownBy(() -> ask(LARGE, SHORT_MS)).hasMessageContaining("not answered in time");
    daemon.send(new Accepted());
    assertThat(answer.get()).isEqualTo(new Accepted());
  }

  @Test
  void anInterruptedCallerDoesNotWaitAndTheNextOneSkipsItsAnswer() throws Exception {
    FutureTask<Object> interrupted = start(() -> ask(REQUEST, LONG_MS));
    assertThat(daemon.receive()).isEqualTo(REQUEST);
    asker.interrupt();
    assertThatThrownBy(interrupted::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(InterruptedException.class);
    FutureTask<Object> next = start(() -> ask(REQUEST, LONG_MS));
    daemon.send(entered(1));
    daemon.send(entered(2));
    assertThat(next.get()).isEqualTo(entered(2));
  }

  /** Waits until the thread has cleared its interrupt status, which it does for the wait. */
  private void awaitWaiting() {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (asker.isInterrupted()) {
      assertThat(System.nanoTime())
          .as("the thread does not wait for an answer")
          .isLessThan(deadlineNanos);
      Thread.onSpinWait();
    }
  }

  @Test
  void aCallerInterruptedWithinAnAnswerReadsTheRestOfIt() throws Exception {
    FutureTask<Object> answer =
        start(
            () -> {
              Object got = ask(REQUEST, LONG_MS);
              assertThat(Thread.interrupted()).isTrue();
              return got;
            });
    assertThat(daemon.receive()).isEqualTo(REQUEST);
    ByteBuffer frame = frame(entered(7));
    socket.write(frame.slice(0, 6));
    asker.interrupt();
    awaitWaiting();
    socket.write(frame.slice(6, frame.capacity() - 6));
    assertThat(answer.get()).isEqualTo(entered(7));
  }

  @Test
  void aCallerInterruptedWithinARequestSendsTheRestOfIt() throws Exception {
    FutureTask<Object> answer = start(() -> ask(LARGE, LONG_MS));
    readAll(ByteBuffer.allocate(1));
    asker.interrupt();
    awaitWaiting();
    readAll(ByteBuffer.allocate(frame(LARGE).capacity() - 1));
    assertThatThrownBy(answer::get).hasCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void theDeadlineAlsoEndsTheWaitOfAnInterruptedCaller() throws Exception {
    FutureTask<Object> answer = start(() -> ask(REQUEST, 1_000));
    assertThat(daemon.receive()).isEqualTo(REQUEST);
    socket.write(frame(entered(7)).slice(0, 6));
    asker.interrupt();
    assertThatThrownBy(answer::get)
        .hasCauseInstanceOf(IOException.class)
        .hasMessageContaining("not answered in time");
  }

  @Test
  void closingEndsWaiting() throws Exception {
    FutureTask<Object> answer = start(() -> ask(REQUEST, LONG_MS));
    assertThat(daemon.receive()).isEqualTo(REQUEST);
    channel.close();
    assertThatThrownBy(answer::get).hasCauseInstanceOf(IOException.class);
  }
}
