// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Reads and writes the fields of messages. A length that the rest of the frame cannot hold is
 * rejected, so that a few bytes from the network do not allocate gigabytes. All messages use it,
 * those of the driver's directory included. It has no state. A changed encoding needs new message
 * ids ({@link NodeMessages.RegisterExecutor#VERSION}).
 */
public final class Fields {
  private static final byte ABSENT = -1;

  private Fields() {}

  /** Writes the number of elements that follow. */
  public static void writeCount(Output output, int count) {
    output.writeInt(count, true);
  }

  /**
   * @param elementBytes smallest size of an element; not 0
   */
  public static int readCount(Input input, int elementBytes) {
    int count = input.readInt(true);
    if (count < 0 || count > (input.limit() - input.position()) / elementBytes) {
      throw new KryoException(
          "%d elements of %d bytes do not fit in the remaining %d bytes"
              .formatted(count, elementBytes, input.limit() - input.position()));
    }
    return count;
  }

  /** Writes the number of elements, then the elements. */
  public static <T> void writeAll(Output output, List<T> elements, BiConsumer<T, Output> writer) {
    writeCount(output, elements.size());
    elements.forEach(element -> writer.accept(element, output));
  }

  /**
   * @param elementBytes smallest size of an element; not 0
   */
  public static <T> List<T> readAll(Input input, int elementBytes, Function<Input, T> reader) {
    return readAtMost(input, Integer.MAX_VALUE, elementBytes, reader);
  }

  /**
   * @param max limit of elements: one may take many times its encoded bytes in memory
   */
  static <T> List<T> readAtMost(Input input, int max, int elementBytes, Function<Input, T> reader) {
    int count = readCount(input, elementBytes);
    if (count > max) {
      throw new KryoException("%d elements, but at most %d are allowed".formatted(count, max));
    }
    List<T> elements = new ArrayList<>();
    for (int left = count; left > 0; left--) {
      elements.add(reader.apply(input));
    }
    return Collections.unmodifiableList(elements);
  }

  /** Rejects negative ids: Spark counts its shuffles from 0. */
  public static int readShuffleId(Input input) {
    int shuffleId = input.readInt();
    if (shuffleId < 0) {
      throw new KryoException("invalid shuffle id " + shuffleId);
    }
    return shuffleId;
  }

  public static void writeBytes(Output output, byte[] bytes) {
    writeCount(output, bytes.length);
    output.writeBytes(bytes);
  }

  public static byte[] readBytes(Input input) {
    return input.readBytes(readCount(input, 1));
  }

  public static void writeString(Output output, String string) {
    writeBytes(output, string.getBytes(StandardCharsets.UTF_8));
  }

  public static String readString(Input input) {
    return new String(readBytes(input), StandardCharsets.UTF_8);
  }

  static void writeProcess(Output output, ProcessName process) {
    writeString(output, process.application());
    writeString(output, process.id());
  }

  static ProcessName readProcess(Input input) {
    return new ProcessName(readString(input), readString(input));
  }

  public static void writeLongs(Output output, long[] values) {
    writeCount(output, values.length);
    output.writeLongs(values);
  }

  public static long[] readLongs(Input input) {
    return input.readLongs(readCount(input, Long.BYTES));
  }

  public static void writeRegion(Output output, RemoteRegion region) {
    output.writeLong(region.address());
    output.writeLong(region.length());
    output.writeInt(region.rkey());
  }

  public static RemoteRegion readRegion(Input input) {
    RemoteRegion region = new RemoteRegion(input.readLong(), input.readLong(), input.readInt());
    if (region.length() < 0) {
      throw new KryoException("memory region of " + region.length() + " bytes");
    }
    return region;
  }

  /**
   * @param location may be null
   */
  public static void writeLocation(Output output, MapOutputLocation location) {
    if (location == null) {
      output.writeByte(ABSENT);
      return;
    }
    output.writeByte(location.slot());
    output.writeLong(location.mapId());
    writeSegment(output, location.segment());
  }

  public static MapOutputLocation readLocation(Input input) {
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

  public static void writeQueuePair(Output output, QueuePairAddress address) {
    output.writeInt(address.qpNumber());
    output.writeInt(address.psn());
    output.writeInt(address.lid());
    output.writeLong(address.gid().subnetPrefix());
    output.writeLong(address.gid().interfaceId());
    output.writeInt(address.mtu());
    output.writeInt(address.maxDestRdAtomic());
    writeBytes(output, address.providerData());
  }

  public static QueuePairAddress readQueuePair(Input input) {
    int qpNumber = input.readInt();
    int psn = input.readInt();
    int lid = input.readInt();
    Gid gid = new Gid(input.readLong(), input.readLong());
    return new QueuePairAddress(
        qpNumber, psn, lid, gid, input.readInt(), input.readInt(), readBytes(input));
  }
}
