// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import dev.sluice.blocks.wire.NodeMessages;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import jdk.net.ExtendedSocketOptions;

/**
 * One end of a connection over a node's Unix domain socket: blocking in the {@code SocketServer},
 * not blocking in an executor's {@link RequestChannel}. Each message follows its length in four
 * bytes. One thread uses it at a time, and waits for ever if the channel blocks. Any thread may
 * close it, which ends that wait.
 */
public final class MessageChannel implements AutoCloseable {
  /** Many times the size of a message. */
  private static final int MAX_BYTES = 1 << 20;

  private static final MessageCodec CODEC =
      new MessageCodec(NodeMessages.TYPES, List.of(ControlMessages.REFUSED));

  private final SocketChannel channel;
  private final Readiness readiness;

  /** Waits until a non-blocking channel is ready. */
  @FunctionalInterface
  interface Readiness {
    /**
     * @param operation of {@link SelectionKey}
     */
    void await(int operation) throws IOException;
  }

  MessageChannel(SocketChannel channel, Readiness readiness) {
    this.channel = channel;
    this.readiness = readiness;
  }

  /** Takes a blocking channel. */
  public MessageChannel(SocketChannel channel) {
    this(channel, _ -> {});
  }

  /** Opens a channel that is not connected yet. */
  public static MessageChannel open() throws IOException {
    return new MessageChannel(SocketChannel.open(StandardProtocolFamily.UNIX));
  }

  /** Connects. Waits if the listener has not accepted earlier connections. */
  public void connect(Path socket) throws IOException {
    channel.connect(UnixDomainSocketAddress.of(socket));
  }

  /** User of this process. */
  public static UserPrincipal self() throws IOException {
    return Files.getOwner(Path.of("/proc/self"));
  }

  /** User of the process at the other end. */
  public UserPrincipal peer() throws IOException {
    return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
  }

  public void send(Object message) throws IOException {
    byte[] frame = CODEC.encode(message);
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES + frame.length);
    bytes.putInt(frame.length).put(frame).flip();
    while (bytes.hasRemaining()) {
      if (channel.write(bytes) == 0) {
        readiness.await(SelectionKey.OP_WRITE);
      }
    }
  }

  /**
   * @throws EOFException if the other end has closed the connection
   * @throws MessageException if it sends bytes that are not a message
   */
  public Object receive() throws IOException {
    int length = read(Integer.BYTES).getInt();
    if (length < 0 || length > MAX_BYTES) {
      throw new MessageException(
          "A message has a length of %d bytes; 0 to %d are allowed".formatted(length, MAX_BYTES));
    }
    return CODEC.decode(read(length));
  }

  private ByteBuffer read(int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      int read = channel.read(bytes);
      if (read < 0) {
        throw new EOFException("the connection was closed");
      }
      if (read == 0) {
        readiness.await(SelectionKey.OP_READ);
      }
    }
    return bytes.flip();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
