// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

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
 * Executor's end of a connection to the node daemon. Requests are answered one after the other,
 * each within a deadline. They run on the caller's own thread: another thread would have to wait
 * for a processor, which takes milliseconds while all are busy. A caller that is interrupted leaves
 * its answer unread; the next caller reads and drops it first. Any thread; {@link NodeConnection}
 * creates and closes it.
 */
final class RequestChannel implements AutoCloseable {
  private final SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
  private final Selector selector;
  private final MessageChannel messages = new MessageChannel(socket, this::awaitRest);
  private final ReentrantLock lock = new ReentrantLock();

  /** Set when connected, before the first request. */
  @SuppressWarnings("NullAway.Init") // set by connect(), before a request is sent
  private SelectionKey key;

  /** Deadline of the request that is under way; guarded by the lock. */
  private long deadlineNanos;

  /** Number of requests that were sent and not answered yet; guarded by the lock. */
  private int unanswered;

  /** The other end accepts connections, but does not answer within the deadline. */
  static final class UnansweredException extends IOException {
    private static final long serialVersionUID = 1L;

    UnansweredException(String reason) {
      super(reason);
    }
  }

  RequestChannel() throws IOException {
    try {
      selector = Selector.open();
    } catch (IOException e) {
      socket.close(); // No file descriptor is left for the selector.
      throw e;
    }
  }

  /** Connects. Never waits. */
  void connect(Path path) throws IOException {
    socket.configureBlocking(false);
    if (!socket.connect(UnixDomainSocketAddress.of(path))) {
      throw new UnansweredException("too many executors are waiting to connect");
    }
    key = socket.register(selector, 0);
  }

  /** User of the process at the other end. */
  UserPrincipal peer() throws IOException {
    return messages.peer();
  }

  /**
   * @param deadline of {@link System#nanoTime}
   * @throws UnansweredException if there is no answer by then
   * @throws IOException if the connection is closed
   * @throws InterruptedException possibly after the request was sent; its answer is dropped
   */
  Object ask(Object request, long deadline) throws IOException, InterruptedException {
    if (!lock.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new UnansweredException(request + " was not answered in time");
    }
    try {
      deadlineNanos = deadline;
      messages.send(request);
      unanswered++;
      Object answer;
      do {
        awaitAnswer();
        answer = messages.receive();
        unanswered--;
      } while (unanswered > 0);
      return answer;
    } catch (UnansweredException e) {
      throw new UnansweredException(request + " was not answered in time");
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

  /** Waits for the rest of a message. Does not end at an interrupt, but sets it again. */
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
   * Waits for bytes, or for room for them. Returns at once if the thread is interrupted.
   *
   * @return true if the channel is ready
   */
  private boolean await(int operation) throws IOException {
    long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    if (millis < 0) {
      throw new UnansweredException("it was not answered in time");
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
