// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.Link.Hello;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * The TCP connection of a queue pair. The event loop receives. The posting thread sends its
 * requests itself while the socket accepts them; otherwise the event loop sends them. The event
 * loop alone sends answers, which may come from files.
 *
 * <p>{@link Link} makes and closes it, {@link SoftQueuePair} flushes it. Callers hold the queue
 * pair's lock, on any thread. {@link #ready} is the exception: the event loop calls it without a
 * lock, and it takes that lock itself. It may still be called after {@link #close}, and then does
 * nothing.
 */
final class SoftConnection implements EventLoop.Handler {
  /** Reads or writes before other connections get their turn. */
  private static final int MAX_ROUNDS = 4;

  /** The rest of a payload above this size is read with only a small look-ahead. */
  private static final int LARGE_PAYLOAD_BYTES = 32 << 10;

  /**
   * Bytes read beyond such a payload: a few headers. More would contain payload that has to be
   * copied.
   */
  private static final int LOOK_AHEAD_BYTES = 4 << 10;

  private final SoftQueuePair queuePair;
  private final Initiator initiator;
  private final Responder responder;
  private final EventLoop loop;
  private final SocketChannel channel;
  private final SelectionKey key;
  private final LeakTracker.Handle leak;
  private final FrameBatch batch;
  private final FrameHeader header = new FrameHeader();
  private final Payload payload = new Payload();

  /** The received part of an incomplete header. */
  private final ByteBuffer partialHeader = ByteBuffer.allocate(FrameHeader.BYTES);

  /** True while the payload of {@link #header} is arriving. */
  private boolean inPayload;

  /** True if only the remaining frames are sent, and incoming bytes are dropped. */
  private boolean draining;

  /**
   * @param key of the socket, which is connected or connecting; the connection owns it from now on
   */
  SoftConnection(
      SoftQueuePair queuePair,
      Initiator initiator,
      Responder responder,
      EventLoop loop,
      SelectionKey key,
      LeakTracker leaks) {
    this.queuePair = queuePair;
    this.initiator = initiator;
    this.responder = responder;
    this.loop = loop;
    this.key = key;
    batch = new FrameBatch(loop.frameBuffers());
    channel = (SocketChannel) key.channel();
    leak = leaks.opened("socket", "of " + queuePair);
  }

  /** Sends the hello as soon as the socket is connected. */
  void connect(Hello hello) {
    batch.add(hello.encode(), null);
    key.attach(this);
    key.interestOps(SelectionKey.OP_CONNECT);
  }

  /** Starts on a socket that the peer has connected. */
  void accepted(long now) {
    key.attach(this);
    key.interestOps(SelectionKey.OP_READ);
    flush(now);
  }

  @Override
  public void ready(SelectionKey ready) {
    queuePair.lock();
    try {
      if (!channel.isOpen()) {
        return;
      }
      if (key.isConnectable()) {
        channel.finishConnect();
        key.interestOps(SelectionKey.OP_READ);
      }
      long now = loop.now();
      if (key.isReadable()) {
        receive(now);
      }
      send(now, MAX_ROUNDS);
      queuePair.scheduleTimer();
    } catch (IOException | RuntimeException | Error e) {
      queuePair.connectionLost(reason(e));
    } finally {
      queuePair.unlock();
    }
  }

  /** Sends at most one batch, if the socket is connected. */
  void flush(long now) {
    try {
      if (!channel.isConnected()) {
        return;
      }
      if (loop.isCurrent() || batch.isEmpty() && responder.isIdle()) {
        send(now, 1);
      } else {
        want(true);
      }
    } catch (IOException | RuntimeException | Error e) {
      queuePair.connectionLost(reason(e));
    }
  }

  private static String reason(Throwable e) {
    return e instanceof InternalError ? "a fault in mapped memory" : e.toString();
  }

  private void receive(long now) throws IOException {
    ByteBuffer staging = loop.staging();
    for (int round = 0; round < MAX_ROUNDS && channel.isOpen(); round++) {
      staging.clear();
      long bytes = readInto(staging);
      if (bytes < 0) {
        throw new ClosedChannelException();
      }
      if (bytes == 0) {
        return;
      }
      boolean drained = staging.hasRemaining();
      staging.flip();
      if (!draining) {
        parse(staging, now);
        partialHeader.clear().put(staging);
      }
      if (drained && !inPayload) {
        return; // the selector reports later bytes at a lower cost than an empty read
      }
    }
  }

  private long readInto(ByteBuffer staging) throws IOException {
    if (!inPayload) {
      int carried = partialHeader.position();
      staging.put(partialHeader.flip());
      long bytes = channel.read(staging);
      if (bytes <= 0) {
        partialHeader.clear().position(carried);
      }
      return bytes;
    }
    if (payload.remaining() > LARGE_PAYLOAD_BYTES) {
      staging.limit(LOOK_AHEAD_BYTES);
    }
    return payload.readFrom(channel, staging);
  }

  private void parse(ByteBuffer in, long now) throws ProtocolException {
    while (channel.isOpen()) {
      if (inPayload) {
        payload.take(in);
        if (payload.remaining() > 0) {
          return;
        }
        inPayload = false;
        initiator.end(header);
      } else {
        if (in.remaining() < FrameHeader.BYTES) {
          return;
        }
        header.decode(in);
        begin(now);
      }
    }
    in.position(in.limit());
  }

  private void begin(long now) throws ProtocolException {
    switch (header.type) {
      case READ -> responder.serve(header, now);
      case NAK -> initiator.refused(header, now);
      case DATA -> {
        inPayload = true;
        initiator.begin(header, payload, now);
      }
    }
  }

  private void send(long now, int maxRounds) throws IOException {
    for (int round = 0; ; round++) {
      if (batch.isEmpty()) {
        fill(now);
      }
      if (batch.isEmpty()) {
        want(false);
        return;
      }
      if (round == maxRounds) {
        break;
      }
      batch.writeTo(channel);
      if (!batch.isEmpty()) {
        break;
      }
    }
    want(true);
  }

  /** Alternates answers and requests, so that neither direction starves the other. */
  private void fill(long now) {
    boolean answered = true;
    boolean asked = true;
    while ((answered || asked) && batch.hasRoom() && channel.isOpen()) {
      answered = responder.nextFrame(batch, now);
      asked = !draining && batch.hasRoom() && initiator.nextFrame(batch, now);
    }
  }

  private void want(boolean write) {
    if (channel.isOpen() && write != ((key.interestOps() & SelectionKey.OP_WRITE) != 0)) {
      key.interestOps(write ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
      if (write) {
        loop.wakeUp();
      }
    }
  }

  /** Stops all access to the region's memory. */
  void regionClosed(SoftRegion region) {
    try {
      batch.detach(region);
      if (inPayload && payload.uses(region)) {
        initiator.memoryGone();
      }
    } catch (RuntimeException | Error e) { // the region's memory is about to be freed
      queuePair.connectionLost(reason(e));
    }
  }

  /** Sends the rest of the batch, ignores incoming bytes, and stays open until the peer closes. */
  void drain() {
    draining = true;
    payload.discard();
    inPayload = false;
    partialHeader.clear();
  }

  void close() {
    Sockets.close(channel);
    batch.clear();
    payload.discard();
    loop.wakeUp();
    leak.closed();
  }
}
