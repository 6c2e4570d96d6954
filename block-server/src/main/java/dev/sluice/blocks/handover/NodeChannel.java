// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.NodeMessages;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One end of a connection over a node's Unix domain socket. Each message follows its length in four
 * bytes. An executor's threads {@link #ask}; requests are answered one after the other, each within
 * a deadline. They run on the caller's own thread: another thread would have to wait for a
 * processor, which takes milliseconds while all are busy. The daemon's thread of the connection
 * receives and sends. Any thread may close it, which ends every wait.
 *
 * <p>A caller that is interrupted leaves its answer unread; the next caller reads and drops it
 * first. Costs three file descriptors.
 */
public final class NodeChannel implements AutoCloseable {
  /**
   * Limit of a request, which any user may send. Only names and secret of {@link
   * NodeMessages.RegisterExecutor} have no fixed size.
   */
  private static final int MAX_REQUEST_BYTES = 16 << 10;

  /** Limit of an answer, which may have a path for each of many disks. */
  private static final int MAX_ANSWER_BYTES = 1 << 20;

  private static final long FOREVER_NANOS = Long.MAX_VALUE / 2;

  private static final MessageCodec CODEC =
      new MessageCodec(NodeMessages.TYPES, List.of(ControlMessages.REFUSED));

  private final SocketChannel socket;

  /** Limit of a message that this end receives. */
  private final int maxBytes;

  private final Selector selector;
  private final SelectionKey key;
  private final ReentrantLock lock = new ReentrantLock();

  /** Deadline of the call that is under way; used by one thread at a time. */
  private long deadlineNanos;

  /** Number of requests that were sent and not answered yet; guarded by the lock. */
  private int unanswered;

  /** The other end accepts connections, but does not send or take bytes within the deadline. */
  public static final class UnansweredException extends IOException {
    private static final long serialVersionUID = 1L;

    UnansweredException(String reason) {
      super(reason);
    }
  }

  /** Makes the daemon's end of a connected socket, and closes the socket if that fails. */
  public NodeChannel(SocketChannel accepted) throws IOException {
    this(accepted, MAX_REQUEST_BYTES);
  }

  private NodeChannel(SocketChannel connected, int maxBytes) throws IOException {
    socket = connected;
    this.maxBytes = maxBytes;
    try {
      socket.configureBlocking(false);
      selector = Selector.open();
      key = socket.register(selector, 0);
    } catch (IOException e) {
      socket.close(); // No file descriptor is left for the selector.
      throw e;
    }
  }

  /**
   * Connects. Never waits.
   *
   * @throws UnansweredException if a daemon listens, but has not accepted earlier connections
   */
  public static NodeChannel connect(Path path) throws IOException {
    return new NodeChannel(NodeSocket.connect(path), MAX_ANSWER_BYTES);
  }

  /** User of the process at the other end. */
  public UserPrincipal peer() throws IOException {
    return NodeSocket.peer(socket);
  }

  /**
   * Sends a request and returns its answer.
   *
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
      write(request);
      unanswered++;
      Object answer;
      do {
        awaitAnswer();
        answer = read();
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

  /** Sends a message. Waits for ever if the other end takes no bytes. */
  public void send(Object message) throws IOException {
    deadlineNanos = System.nanoTime() + FOREVER_NANOS;
    write(message);
  }

  /** Waits for a message, for ever if the other end sends none. */
  public Object receive() throws IOException {
    return receive(System.nanoTime() + FOREVER_NANOS);
  }

  /**
   * Waits for a message.
   *
   * @param deadline of {@link System#nanoTime}
   * @throws UnansweredException if it is not there by then
   * @throws EOFException if the other end has closed the connection
   * @throws MessageException if it sends bytes that are not a message
   */
  public Object receive(long deadline) throws IOException {
    deadlineNanos = deadline;
    return read();
  }

  private void write(Object message) throws IOException {
    byte[] frame = CODEC.encode(message);
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + frame.length);
    bytes.putInt(frame.length).put(frame).flip();
    while (bytes.hasRemaining()) {
      if (socket.write(bytes) == 0) {
        awaitRest(SelectionKey.OP_WRITE);
      }
    }
  }

  private Object read() throws IOException {
    int length = read(Integer.BYTES).getInt();
    if (length < 0 || length > maxBytes) {
      throw new MessageException(
          "A message has a length of %d bytes; 0 to %d are allowed".formatted(length, maxBytes));
    }
    return CODEC.decode(read(length));
  }

  private ByteBuffer read(int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      int read = socket.read(bytes);
      if (read < 0) {
        throw new EOFException("the connection was closed");
      }
      if (read == 0) {
        awaitRest(SelectionKey.OP_READ);
      }
    }
    return bytes.flip();
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
