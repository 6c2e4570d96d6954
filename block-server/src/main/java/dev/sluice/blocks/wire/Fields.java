// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.rdma.RemoteRegion;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Types of fields in messages: how they are read and written, and the annotations of record
 * components that say more than their types. A length that the rest of the frame cannot hold is
 * rejected, so that a few bytes from the network do not allocate gigabytes. {@link RecordCodec}
 * uses it for all messages, and the driver's log of locations for its segments. It has no state. A
 * changed encoding needs new message ids ({@link NodeMessages.RegisterExecutor#VERSION}).
 *
 * <p>Locations and segments are written by hand: the number of slots, one byte, also tells that
 * there is no location.
 */
public final class Fields {
  private static final byte ABSENT = -1;

  /** Marks a shuffle id. Readers reject negative ones: Spark counts its shuffles from 0. */
  @Target(ElementType.TYPE_USE)
  @Retention(RetentionPolicy.RUNTIME)
  public @interface ShuffleId {}

  /** Limits a list that is read: an element may take many times its encoded bytes in memory. */
  @Target(ElementType.TYPE_USE)
  @Retention(RetentionPolicy.RUNTIME)
  public @interface MaxElements {
    int value();
  }

  /** Records of an interface. Messages carry the place of a record here, so new ones come last. */
  @Target(ElementType.TYPE)
  @Retention(RetentionPolicy.RUNTIME)
  public @interface Kinds {
    Class<?>[] value();
  }

  private Fields() {}

  /** Writes the number of elements that follow. */
  static void writeCount(Output output, int count) {
    output.writeInt(count, true);
  }

  /**
   * @param elementBytes smallest size of an element; not 0
   */
  static int readCount(Input input, int elementBytes) {
    int count = input.readInt(true);
    if (count < 0 || count > (input.limit() - input.position()) / elementBytes) {
      throw new KryoException(
          "%d elements of %d bytes do not fit in the remaining %d bytes"
              .formatted(count, elementBytes, input.limit() - input.position()));
    }
    return count;
  }

  static int readShuffleId(Input input) {
    int shuffleId = input.readInt();
    if (shuffleId < 0) {
      throw new KryoException("invalid shuffle id " + shuffleId);
    }
    return shuffleId;
  }

  static void writeBytes(Output output, byte[] bytes) {
    writeCount(output, bytes.length);
    output.writeBytes(bytes);
  }

  static byte[] readBytes(Input input) {
    return input.readBytes(readCount(input, 1));
  }

  static void writeString(Output output, String string) {
    writeBytes(output, string.getBytes(StandardCharsets.UTF_8));
  }

  static String readString(Input input) {
    return new String(readBytes(input), StandardCharsets.UTF_8);
  }

  static void writeInts(Output output, int[] values) {
    writeCount(output, values.length);
    output.writeInts(values);
  }

  static int[] readInts(Input input) {
    return input.readInts(readCount(input, Integer.BYTES));
  }

  static void writeLongs(Output output, long[] values) {
    writeCount(output, values.length);
    output.writeLongs(values);
  }

  static long[] readLongs(Input input) {
    return input.readLongs(readCount(input, Long.BYTES));
  }

  static void writeRegion(Output output, RemoteRegion region) {
    output.writeLong(region.address());
    output.writeLong(region.length());
    output.writeInt(region.rkey());
  }

  static RemoteRegion readRegion(Input input) {
    RemoteRegion region = new RemoteRegion(input.readLong(), input.readLong(), input.readInt());
    if (region.length() < 0) {
      throw new KryoException("memory region of " + region.length() + " bytes");
    }
    return region;
  }

  /**
   * @param location may be null
   */
  static void writeLocation(Output output, @Nullable MapOutputLocation location) {
    if (location == null) {
      output.writeByte(ABSENT);
      return;
    }
    output.writeByte(location.slot());
    output.writeLong(location.mapId());
    writeSegment(output, location.segment());
  }

  static @Nullable MapOutputLocation readLocation(Input input) {
    int slot = input.readByte();
    if (slot == ABSENT) {
      return null;
    }
    long mapId = input.readLong();
    TableSegment segment = readSegment(input);
    if (!segment.hasSlot(slot)) {
      throw new KryoException("no slot " + slot + " in " + segment);
    }
    return new MapOutputLocation(mapId, segment, slot);
  }

  public static void writeSegment(Output output, TableSegment segment) {
    output.writeByte(segment.slots());
    writeRegion(output, segment.region());
  }

  public static TableSegment readSegment(Input input) {
    int slots = input.readByte();
    TableSegment segment = new TableSegment(readRegion(input), slots);
    if (!segment.hasSlot(0)) {
      throw new KryoException(segment + " has no slots");
    }
    return segment;
  }
}
