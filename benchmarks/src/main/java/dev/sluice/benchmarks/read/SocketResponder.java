package dev.sluice.benchmarks.read;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The other end of {@link SocketPartner}: answers requests for bytes of its memory, all that have
 * arrived in one gathering write. Run by the thread of its connection.
 */
final class SocketResponder {
  /** Offset and length of what is asked for. */
  static final int REQUEST_BYTES = 2 * Long.BYTES;

  private final SocketChannel channel;
  private final ByteBuffer memory;
  private final ByteBuffer requests =
      ByteBuffer.allocateDirect(SeamPartner.MAX_IN_FLIGHT * REQUEST_BYTES);

  SocketResponder(SocketChannel channel, ByteBuffer memory) {
    this.channel = channel;
    this.memory = memory;
  }

  void run() throws IOException {
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    while (channel.read(requests) >= 0) {
      requests.flip();
      answer();
      requests.compact();
    }
  }

  private void answer() throws IOException {
    ByteBuffer[] answers = new ByteBuffer[requests.remaining() / REQUEST_BYTES];
    long remaining = 0;
    for (int i = 0; i < answers.length; i++) {
      int offset = (int) requests.getLong();
      int length = (int) requests.getLong();
      answers[i] = memory.slice(offset, length);
      remaining += length;
    }
    while (remaining > 0) {
      remaining -= channel.write(answers);
    }
  }
}
