package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Encodes messages: registered types only, by explicit ids, each by what its type says, so that
 * bytes from the network can neither name a class nor build an object graph. Of Kryo it takes the
 * buffers alone. Any thread.
 */
public final class MessageCodec {
  /** Bytes of an encoded message at most. */
  public static final int MAX_FRAME_BYTES = 16 << 20;

  private static final int VERSION = 1;
  private static final int INITIAL_BYTES = 256;

  /** Of version and type. */
  private static final int MAX_BEGIN_BYTES = 6;

  private final Map<Integer, MessageType<?>> byId = new HashMap<>();
  private final Map<Class<?>, MessageType<?>> byClass = new HashMap<>();

  /**
   * @param types all messages of the conversation; of several of one class, which all are read, the
   *     last is written
   */
  @SafeVarargs
  public MessageCodec(List<MessageType<?>>... types) {
    for (List<MessageType<?>> some : types) {
      some.forEach(this::add);
    }
  }

  private void add(MessageType<?> type) {
    if (byId.putIfAbsent(type.id(), type) != null) {
      throw new IllegalArgumentException("Message id " + type.id() + " is taken: " + type.type());
    }
    byClass.put(type.type(), type);
  }

  /** Whether the buffer's remaining bytes, of which none is consumed, begin as one of these do. */
  public boolean knows(ByteBuffer frame) {
    byte[] begin = new byte[Math.min(frame.remaining(), MAX_BEGIN_BYTES)];
    frame.get(frame.position(), begin);
    try (Input input = new Input(begin)) {
      return input.readByte() == VERSION && byId.containsKey(input.readInt(true));
    } catch (KryoException e) {
      return false; // It is too short.
    }
  }

  /**
   * @throws MessageException when the message is of no registered type, or does not fit a frame
   */
  public byte[] encode(Object message) throws MessageException {
    String name = message.getClass().getName();
    MessageType<?> type = byClass.get(message.getClass());
    if (type == null) {
      throw new MessageException(name + " cannot be encoded: it is no message");
    }
    try (Output output = new Output(INITIAL_BYTES, MAX_FRAME_BYTES)) {
      output.writeByte(VERSION);
      output.writeInt(type.id(), true);
      type.write(output, message);
      return output.toBytes();
    } catch (KryoException e) {
      throw new MessageException("%s cannot be encoded: %s".formatted(name, e.getMessage()), e);
    }
  }

  /** Decodes the buffer's remaining bytes, which are consumed. */
  public Object decode(ByteBuffer frame) throws MessageException {
    checkLength(frame.remaining());
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return decode(bytes);
  }

  /**
   * @throws MessageException when the bytes are not exactly one message of a registered type
   */
  public Object decode(byte[] frame) throws MessageException {
    checkLength(frame.length);
    try (Input input = new Input(frame)) {
      return decode(input);
    } catch (RuntimeException e) {
      throw new MessageException("Not a message: " + e.getMessage(), e);
    }
  }

  private static void checkLength(int bytes) throws MessageException {
    if (bytes > MAX_FRAME_BYTES) {
      throw new MessageException("A message of %d bytes is too long".formatted(bytes));
    }
  }

  private Object decode(Input input) throws MessageException {
    int version = input.readByte();
    if (version != VERSION) {
      throw new MessageException(
          "A message of version %d: this process speaks version %d".formatted(version, VERSION));
    }
    int id = input.readInt(true);
    MessageType<?> type = byId.get(id);
    if (type == null) {
      throw new MessageException("A message of unknown type " + id);
    }
    Object message = type.reader().apply(input);
    if (input.position() != input.limit()) {
      throw new MessageException(
          "%s with %d bytes too many"
              .formatted(type.type().getName(), input.limit() - input.position()));
    }
    return message;
  }
}
