// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.MessageException;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A frame of Spark's transport: eight bytes with its total length, one byte with its type, and the
 * content of that type. The threads of {@link ControlProxy} read it; the bytes are passed on as
 * they are.
 *
 * @param message the message of Sluice, without its address; null if the frame has none
 */
record Frame(byte[] bytes, @Nullable Object message) {
  private static final MessageCodec CODEC = new MessageCodec(ControlMessages.TYPES);

  private static final int TYPE_AT = Long.BYTES;

  /** Limit of a frame's length: more than any message of Sluice has. */
  private static final int MAX_BYTES = 64 << 20;

  /** Request: its id and the body's length precede the body. */
  private static final int RPC_REQUEST = 3;

  private static final int REQUESTED_AT = TYPE_AT + 1 + Long.BYTES + Integer.BYTES;

  /** Answer, with the same layout. */
  private static final int RPC_RESPONSE = 4;

  /** Message without an answer and without an id. */
  private static final int ONE_WAY_MESSAGE = 9;

  private static final int SENT_AT = REQUESTED_AT - Long.BYTES;

  /**
   * @return the next frame; null at the end of the stream
   */
  static @Nullable Frame read(DataInputStream in) throws IOException {
    byte[] head = in.readNBytes(Long.BYTES);
    if (head.length < Long.BYTES) {
      return null;
    }
    long length = ByteBuffer.wrap(head).getLong();
    if (length <= Long.BYTES || length > MAX_BYTES) {
      throw new IOException("invalid length of a frame: " + length + " bytes");
    }
    byte[] bytes = ByteBuffer.allocate((int) length).put(head).array();
    in.readFully(bytes, Long.BYTES, bytes.length - Long.BYTES);
    return new Frame(bytes, message(bytes));
  }

  private static @Nullable Object message(byte[] bytes) {
    int at =
        switch (bytes[TYPE_AT]) {
          case RPC_REQUEST, RPC_RESPONSE -> REQUESTED_AT;
          case ONE_WAY_MESSAGE -> SENT_AT;
          default -> bytes.length;
        };
    if (at >= bytes.length) {
      return null;
    }
    try {
      Object message = CODEC.decode(ByteBuffer.wrap(bytes, at, bytes.length - at));
      return message instanceof Addressed addressed ? addressed.content() : message;
    } catch (MessageException e) {
      return null;
    }
  }

  /** Returns true if the frame is this message of Sluice. */
  boolean is(Class<?> type) {
    return type.isInstance(message);
  }
}
