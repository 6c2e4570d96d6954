package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A kind of message that a {@link MessageCodec} knows.
 *
 * @param id from {@link #FIRST_ID} on, the same on both sides for ever
 * @param type the message's class, a record as a rule
 * @param serializer stateless: all threads share it
 */
public record MessageType<T>(int id, Class<T> type, Serializer<T> serializer) {
  /** Kryo itself takes the ids before that. */
  public static final int FIRST_ID = 16;

  public MessageType {
    if (id < FIRST_ID) {
      throw new IllegalArgumentException("Message id " + id + " is below " + FIRST_ID);
    }
  }

  /**
   * A message that writes and reads itself.
   *
   * @param write writes the fields
   * @param read reads the same; strings and counts by {@link Fields}, which believe no length that
   *     the frame cannot hold. Any RuntimeException says that the bytes are not such a message.
   */
  public static <T> MessageType<T> of(
      int id, Class<T> type, BiConsumer<T, Output> write, Function<Input, T> read) {
    return new MessageType<>(
        id,
        type,
        new Serializer<T>(false, true) {
          @Override
          public void write(Kryo kryo, Output output, T message) {
            write.accept(message, output);
          }

          @Override
          public T read(Kryo kryo, Input input, Class<T> ignored) {
            return read.apply(input);
          }
        });
  }
}
