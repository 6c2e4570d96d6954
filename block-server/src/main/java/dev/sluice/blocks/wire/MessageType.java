// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.function.Supplier;

/**
 * Type of a message that a {@link MessageCodec} knows. The classes of messages list their types as
 * constants. Immutable.
 *
 * @param id {@link #FIRST_ID} or more; the same on both sides for ever
 * @param type class of the message
 * @param codec gives what writes and reads the components, on any thread. It is derived at the
 *     first use of the type, as most processes use few. Any RuntimeException of its reader means
 *     that the bytes are not such a message.
 */
public record MessageType<T>(int id, Class<T> type, Supplier<RecordCodec<T>> codec) {
  /** Smaller ids are not used. */
  public static final int FIRST_ID = 16;

  public MessageType {
    if (id < FIRST_ID) {
      throw new IllegalArgumentException("Message id " + id + " is below " + FIRST_ID);
    }
  }

  /**
   * @param type a record; its components are the content of the message, in their order
   */
  public MessageType(int id, Class<T> type) {
    this(id, type, () -> RecordCodec.of(type));
  }

  void write(Output output, Object message) {
    codec.get().writer().accept(output, type.cast(message));
  }

  T read(Input input) {
    return codec.get().reader().apply(input);
  }
}
