package dev.sluice.blocks.node;

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
 * One end of a connection over a node's Unix domain socket: messages, each behind its length in
 * four bytes. One thread uses it at a time, and waits for ever unless the end does not block; any
 * thread closes it, which ends that.
 */
final class MessageChannel implements AutoCloseable {
  /** Many times what a message takes. */
  private static final int MAX_BYTES = 1 << 20;

  private static final MessageCodec CODEC =
      new MessageCodec(NodeMessages.TYPES, List.of(ControlMessages.REFUSED));

  private final SocketChannel channel;
  private final Readiness readiness;

  /** What is done with a channel that does not block where it would have to. */
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

  /** It blocks. */
  MessageChannel(SocketChannel channel) {
    this(channel, _ -> {});
  }

  /** To be connected. */
  static MessageChannel open() throws IOException {
    return new MessageChannel(SocketChannel.open(StandardProtocolFamily.UNIX));
  }

  /** Waits, where the one that listens does not take those that came before. */
  void connect(Path socket) throws IOException {
    channel.connect(UnixDomainSocketAddress.of(socket));
  }

  /** Who runs this process. */
  static UserPrincipal self() throws IOException {
    return Files.getOwner(Path.of("/proc/self"));
  }

  /** Who runs the other end. */
  UserPrincipal peer() throws IOException {
    return channel.getOption(ExtendedSocketOptions.SO_PEERCRED).user();
  }

  void send(Object message) throws IOException {
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
   * @throws EOFException when the other end has closed the connection
   * @throws MessageException when it sends something else
   */
  Object receive() throws IOException {
    int length = read(Integer.BYTES).getInt();
    if (length < 0 || length > MAX_BYTES) {
      throw new MessageException("A message of " + length + " bytes");
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
