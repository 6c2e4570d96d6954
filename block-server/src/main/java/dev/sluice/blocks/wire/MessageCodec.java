package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.pool.KryoPool;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Encodes messages with Kryo: registered types only, by explicit ids and explicit serializers, so
 * that bytes from the network can neither name a class nor build an object graph.
 *
 * <p>Any thread; Kryo instances are pooled, one for each thread that encodes or decodes at a time.
 * They load classes through this class's loader, whatever the calling thread's is.
 */
public final class MessageCodec {
  /** Bytes of an encoded message at most. */
  public static final int MAX_FRAME_BYTES = 16 << 20;

  private static final int VERSION = 1;
  private static final int INITIAL_BYTES = 256;

  private final List<MessageType<?>> types;
  private final KryoPool pool;

  /**
   * @param types all messages of the conversation
   */
  public MessageCodec(List<MessageType<?>> types) {
    this.types = List.copyOf(types);
    pool = new KryoPool.Builder(this::newKryo).softReferences().build();
    pool.release(newKryo());
  }

  private Kryo newKryo() {
    Kryo kryo = new Kryo();
    kryo.setClassLoader(MessageCodec.class.getClassLoader());
    kryo.setRegistrationRequired(true);
    kryo.setReferences(false);
    for (MessageType<?> type : types) {
      if (kryo.getRegistration(type.id()) != null) {
        throw new IllegalArgumentException("Message id " + type.id() + " is taken: " + type.type());
      }
      kryo.register(type.type(), type.serializer(), type.id());
    }
    return kryo;
  }

  /**
   * @throws MessageException when the message is of no registered type, or does not fit a frame
   */
  public byte[] encode(Object message) throws MessageException {
    Kryo kryo = pool.borrow();
    try (Output output = new Output(INITIAL_BYTES, MAX_FRAME_BYTES)) {
      Registration registration = kryo.getRegistration(message.getClass());
      if (registration.getId() < MessageType.FIRST_ID) {
        throw new IllegalArgumentException("it is no message");
      }
      output.writeByte(VERSION);
      output.writeInt(registration.getId(), true);
      @SuppressWarnings("unchecked")
      Serializer<Object> serializer = registration.getSerializer();
      serializer.write(kryo, output, message);
      return output.toBytes();
    } catch (KryoException | IllegalArgumentException e) {
      throw new MessageException(
          "%s cannot be encoded: %s".formatted(message.getClass().getName(), e.getMessage()), e);
    } finally {
      pool.release(kryo);
    }
  }

  /** Decodes the buffer's remaining bytes, which are consumed. */
  public Object decode(ByteBuffer frame) throws MessageException {
    if (frame.remaining() > MAX_FRAME_BYTES) {
      throw new MessageException("A message of %d bytes is too long".formatted(frame.remaining()));
    }
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return decode(bytes);
  }

  /**
   * @throws MessageException when the bytes are not exactly one message of a registered type
   */
  public Object decode(byte[] frame) throws MessageException {
    if (frame.length > MAX_FRAME_BYTES) {
      throw new MessageException("A message of %d bytes is too long".formatted(frame.length));
    }
    Kryo kryo = pool.borrow();
    try (Input input = new Input(frame)) {
      return decode(kryo, input);
    } catch (RuntimeException e) {
      throw new MessageException("Not a message: " + e.getMessage(), e);
    } finally {
      pool.release(kryo);
    }
  }

  private static Object decode(Kryo kryo, Input input) throws MessageException {
    int version = input.readByte();
    if (version != VERSION) {
      throw new MessageException(
          "A message of version %d: this process speaks version %d".formatted(version, VERSION));
    }
    int id = input.readInt(true);
    Registration registration = id < MessageType.FIRST_ID ? null : kryo.getRegistration(id);
    if (registration == null) {
      throw new MessageException("A message of unknown type " + id);
    }
    @SuppressWarnings("unchecked")
    Serializer<Object> serializer = registration.getSerializer();
    @SuppressWarnings("unchecked")
    Class<Object> type = registration.getType();
    Object message = serializer.read(kryo, input, type);
    if (input.position() != input.limit()) {
      throw new MessageException(
          "%s with %d bytes too many".formatted(type.getName(), input.limit() - input.position()));
    }
    return message;
  }
}
