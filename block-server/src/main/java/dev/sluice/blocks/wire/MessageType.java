// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Type of a message that a {@link MessageCodec} knows. The classes of messages list their types as
 * constants; the codec calls writer and reader, on any thread. Immutable.
 *
 * @param id {@link #FIRST_ID} or more; the same on both sides for ever
 * @param type class of the message, usually a record
 * @param writer writes the fields
 * @param reader reads the fields; takes strings and counts from {@link Fields}, which rejects
 *     lengths that the frame cannot hold. Any RuntimeException means that the bytes are not such a
 *     message.
 */
public record MessageType<T>(
    int id, Class<T> type, BiConsumer<T, Output> writer, Function<Input, T> reader) {
  /** Smaller ids are not used. */
  public static final int FIRST_ID = 16;

  public MessageType {
    if (id < FIRST_ID) {
      throw new IllegalArgumentException("Message id " + id + " is below " + FIRST_ID);
    }
  }

  void write(Output output, Object message) {
    writer.accept(type.cast(message), output);
  }
}
