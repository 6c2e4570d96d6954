// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.client.RpcResponseCallback;

/**
 * Encodes and decodes messages of registered types. Types have explicit ids and a {@link
 * RecordCodec} for their fields, so bytes from the network can neither name a class nor build an
 * object graph. Only Kryo's buffers are used. Each end of a protocol has one, with the types that
 * it knows, and calls it on the thread that sends or receives. Any thread; it does not change after
 * its creation.
 */
public final class MessageCodec {
  /** Limit of bytes in an encoded message. */
  public static final int MAX_FRAME_BYTES = 16 << 20;

  /** Version of the encoding; frames of another one are refused. */
  private static final int VERSION = 1;

  private static final int INITIAL_BYTES = 256;

  /** Largest size of version and type id. */
  private static final int MAX_BEGIN_BYTES = 6;

  private final Map<Integer, MessageType<?>> byId = new HashMap<>();
  private final Map<Class<?>, MessageType<?>> byClass = new HashMap<>();

  /**
   * @param types all messages of the protocol; if several have the same class, all are read and the
   *     last one is written
   */
  @SafeVarargs
  public MessageCodec(List<MessageType<?>>... types) {
    for (List<MessageType<?>> some : types) {
      some.forEach(this::add);
    }
  }

  private void add(MessageType<?> type) {
    if (byId.putIfAbsent(type.id(), type) != null) {
      throw new IllegalArgumentException(
          "Message id " + type.id() + " of " + type.type() + " is already in use");
    }
    byClass.put(type.type(), type);
  }

  /** Returns true if the remaining bytes begin like one of these messages. Consumes no byte. */
  public boolean knows(ByteBuffer frame) {
    byte[] begin = new byte[Math.min(frame.remaining(), MAX_BEGIN_BYTES)];
    frame.get(frame.position(), begin);
    try (Input input = new Input(begin)) {
      return input.readByte() == VERSION && byId.containsKey(input.readInt(true));
    } catch (KryoException e) {
      return false; // The frame is too short.
    }
  }

  /**
   * @throws MessageException if the type is not registered, or the message does not fit a frame
   */
  public byte[] encode(Object message) throws MessageException {
    String name = message.getClass().getName();
    MessageType<?> type = byClass.get(message.getClass());
    if (type == null) {
      throw new MessageException(name + " cannot be encoded: it is not a known message type");
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

  /** Answers a request of Spark's transport by a message, or by a failure if it is not encoded. */
  public void answer(RpcResponseCallback callback, Object message) {
    try {
      callback.onSuccess(ByteBuffer.wrap(encode(message)));
    } catch (MessageException e) {
      callback.onFailure(e);
    }
  }

  /** Decodes the remaining bytes and consumes them. */
  public Object decode(ByteBuffer frame) throws MessageException {
    checkLength(frame.remaining());
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return decode(bytes);
  }

  /**
   * @throws MessageException if the bytes are not exactly one message of a registered type
   */
  public Object decode(byte[] frame) throws MessageException {
    checkLength(frame.length);
    try (Input input = new Input(frame)) {
      return decode(input);
    } catch (RuntimeException e) {
      throw new MessageException("A message cannot be decoded: " + e.getMessage(), e);
    }
  }

  private static void checkLength(int bytes) throws MessageException {
    if (bytes > MAX_FRAME_BYTES) {
      throw new MessageException(
          "A message of %d bytes exceeds the limit of %d bytes".formatted(bytes, MAX_FRAME_BYTES));
    }
  }

  private Object decode(Input input) throws MessageException {
    int version = input.readByte();
    if (version != VERSION) {
      throw new MessageException(
          "A message has protocol version %d, but this process speaks version %d"
              .formatted(version, VERSION));
    }
    int id = input.readInt(true);
    MessageType<?> type = byId.get(id);
    if (type == null) {
      throw new MessageException("A message has the unknown type " + id);
    }
    Object message = type.read(input);
    if (input.position() != input.limit()) {
      throw new MessageException(
          "A message of type %s has %d bytes too many"
              .formatted(type.type().getName(), input.limit() - input.position()));
    }
    return message;
  }
}
