// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.zip.Checksum;

/** A map output in the memory of a {@link FakeTransport}'s peer. */
public final class MapOutput {
  private static final int SLOTS = 2;
  private static final int SLOT = 1;

  private final long mapId;
  private final byte[] data;
  private final int[] offsets;
  private ChecksumAlgorithm algorithm = ChecksumAlgorithm.CRC32C;

  /**
   * @param lengths lengths of the partitions in bytes
   */
  public MapOutput(long mapId, int... lengths) {
    this.mapId = mapId;
    this.offsets = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      offsets[i + 1] = offsets[i] + lengths[i];
    }
    this.data = new byte[offsets[lengths.length]];
    new Random(mapId).nextBytes(data);
  }

  public long mapId() {
    return mapId;
  }

  /** Removes the checksums, which encrypted and migrated map outputs do not have. */
  public MapOutput withoutChecksums() {
    algorithm = ChecksumAlgorithm.NONE;
    return this;
  }

  public ChecksumAlgorithm algorithm() {
    return algorithm;
  }

  public byte[] data() {
    return data;
  }

  /** Returns Spark's index file. */
  public byte[] index() {
    ByteBuffer index = ByteBuffer.allocate(offsets.length * Long.BYTES);
    Arrays.stream(offsets).forEach(index::putLong);
    return index.array();
  }

  /** Returns Spark's checksum file. */
  public byte[] checksums() {
    ByteBuffer checksums = ByteBuffer.allocate((offsets.length - 1) * Long.BYTES);
    for (int i = 0; i < offsets.length - 1; i++) {
      checksums.putLong(checksum(i));
    }
    return checksums.array();
  }

  private long checksum(int partition) {
    Checksum checksum = ChecksumAlgorithm.CRC32C.newChecksum();
    checksum.update(data, offsets[partition], offsets[partition + 1] - offsets[partition]);
    return checksum.getValue();
  }

  /** Returns the bytes of partitions [start, end). */
  public byte[] bytes(int start, int end) {
    return Arrays.copyOfRange(data, offsets[start], offsets[end]);
  }

  /** Puts it into the peer's memory. The address tells registrations apart. */
  public MapOutputLocation register(FakeTransport transport, long address) {
    transport.map(address, data);
    return location(transport, address, new RemoteRegion(address, data.length, rkey(address)));
  }

  /**
   * Returns the location of an unregistered map output: the peer stages the bytes and sends the
   * table.
   */
  public MapOutputLocation stage() {
    return new MapOutputLocation(mapId, TableSegment.unregistered(offsets.length - 1), 0);
  }

  /** Returns the peer's answer about partitions of the table; empty if there are none. */
  public long[] table(int start, int end) {
    if (end >= offsets.length) {
      return new long[0];
    }
    RemoteRegion bytes = MapOutputHeader.unregistered(data.length);
    LongStream.Builder longs = LongStream.builder();
    for (long part : new MapOutputHeader(mapId, bytes, algorithm).toLongs()) {
      longs.add(part);
    }
    for (int i = start; i < end; i++) {
      long length = offsets[i + 1] - offsets[i];
      longs.add(TableEntry.first(offsets[i], length)).add(TableEntry.second(length, checksum(i)));
    }
    return longs.build().toArray();
  }

  /** Makes a segment of its own, in which it has the second slot. */
  private MapOutputLocation location(FakeTransport transport, long address, RemoteRegion bytes) {
    int partitions = offsets.length - 1;
    byte[] table = new byte[(int) TableSegment.bytes(SLOTS, partitions)];
    long tableAddress = address + (1L << 32);
    TableSegment segment =
        new TableSegment(new RemoteRegion(tableAddress, table.length, rkey(address) + 1), SLOTS);
    LongBuffer longs = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    MapOutputHeader header = new MapOutputHeader(mapId, bytes, algorithm);
    longs.put((int) TableSegment.header(SLOT) / Long.BYTES, header.toLongs());
    for (int i = 0; i < partitions; i++) {
      long length = offsets[i + 1] - offsets[i];
      longs.position((int) segment.entry(i, SLOT) / Long.BYTES);
      longs.put(TableEntry.first(offsets[i], length));
      longs.put(TableEntry.second(length, checksum(i)));
    }
    transport.map(tableAddress, table);
    return new MapOutputLocation(mapId, segment, SLOT);
  }

  private static int rkey(long address) {
    return (int) (address >> 8) + 1;
  }
}
