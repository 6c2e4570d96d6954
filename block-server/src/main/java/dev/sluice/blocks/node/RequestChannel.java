package dev.sluice.blocks.node;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An executor's end of a connection to its node's block server: requests, one after the other, each
 * answered within a deadline. On the caller's own thread: each other one would first have to get a
 * processor, for which it waits milliseconds where all are busy. A caller that is interrupted
 * leaves the connection to others, which take the answer that it did not wait for first. Any
 * thread; {@link NodeConnection} closes it.
 */
final class RequestChannel implements AutoCloseable {
  private final SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
  private final Selector selector;
  private final MessageChannel messages = new MessageChannel(socket, this::awaitRest);
  private final ReentrantLock lock = new ReentrantLock();

  /** Once it is connected, before anybody asks. */
  private SelectionKey key;

  /** Of the request that is under way; guarded by the lock. */
  private long deadlineNanos;

  /** Requests that were sent and are to be answered; guarded by the lock. */
  private int unanswered;

  RequestChannel() throws IOException {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      socket.close(); // That was the last file descriptor.
      throw e;
    }
  }

  /** Never waits. */
  void connect(Path path) throws IOException {
    socket.configureBlocking(false);
    if (!socket.connect(UnixDomainSocketAddress.of(path))) {
      throw new IOException("too many wait to be let in");
    }
    key = socket.register(selector, 0);
  }

  /** Who runs the other end. */
  UserPrincipal peer() throws IOException {
    return messages.peer();
  }

  /**
   * @param deadline of {@link System#nanoTime}
   * @throws IOException when there is no answer by then, or no connection any more
   * @throws InterruptedException also when it was sent, and is answered to nobody
   */
  Object ask(Object request, long deadline) throws IOException, InterruptedException {
    if (!lock.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new IOException(request + " was not answered in time");
    }
    try {
      deadlineNanos = deadline;
      messages.send(request);
      unanswered++;
      Object answer = null;
      while (unanswered > 0) {
        awaitAnswer();
        answer = messages.receive();
        unanswered--;
      }
      return answer;
    } catch (IOException e) {
      throw new IOException(request + " failed: " + e.getMessage(), e);
    } finally {
      lock.unlock();
    }
  }

  private void awaitAnswer() throws IOException, InterruptedException {
    while (!await(SelectionKey.OP_READ)) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** A message that has begun goes on: who is interrupted within it waits, and is so afterwards. */
  private void awaitRest(int operation) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      await(operation);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits for bytes, or for room for them; a thread that is interrupted does not wait.
   *
   * @return whether it has come to that
   */
  private boolean await(int operation) throws IOException {
    long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    if (millis < 0) {
      throw new IOException("it was not answered in time");
    }
    try {
      key.interestOps(operation);
      return selector.select(_ -> {}, millis + 1) > 0;
    } catch (CancelledKeyException | ClosedSelectorException e) {
      throw (IOException) new AsynchronousCloseException().initCause(e);
    }
  }

  boolean isOpen() {
    return socket.isOpen();
  }

  @Override
  public void close() throws IOException {
    try (selector) {
      socket.close();
    }
  }
}
