package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A kind of message that a {@link MessageCodec} knows.
 *
 * @param id from {@link #FIRST_ID} on, the same on both sides for ever
 * @param type the message's class, a record as a rule
 * @param writer writes the fields
 * @param reader reads the same; strings and counts by {@link Fields}, which believe no length that
 *     the frame cannot hold. Any RuntimeException says that the bytes are not such a message.
 */
public record MessageType<T>(
    int id, Class<T> type, BiConsumer<T, Output> writer, Function<Input, T> reader) {
  /** Those before it are no messages. */
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
