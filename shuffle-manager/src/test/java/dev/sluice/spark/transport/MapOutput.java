package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.Checksum;

/** A map output in the memory of a {@link FakeTransport}'s peer. */
public final class MapOutput {
  private final long mapId;
  private final byte[] data;
  private final int[] offsets;
  private final byte[] table;
  private ChecksumAlgorithm algorithm = ChecksumAlgorithm.CRC32C;

  /**
   * @param lengths of the partitions
   */
  public MapOutput(long mapId, int... lengths) {
    this.mapId = mapId;
    this.offsets = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      offsets[i + 1] = offsets[i] + lengths[i];
    }
    this.data = new byte[offsets[lengths.length]];
    new Random(mapId).nextBytes(data);
    this.table = table(lengths.length);
  }

  private byte[] table(int partitions) {
    ByteBuffer entries =
        ByteBuffer.allocate((partitions + 1) * PartitionTable.ENTRY_BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i <= partitions; i++) {
      entries.putLong(offsets[i]);
      entries.putLong(i < partitions ? checksum(i) : 0);
    }
    return entries.array();
  }

  public long mapId() {
    return mapId;
  }

  /** As what is encrypted or has migrated. */
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

  /** Its index file, as Spark's. */
  public byte[] index() {
    ByteBuffer index = ByteBuffer.allocate(offsets.length * Long.BYTES);
    Arrays.stream(offsets).forEach(index::putLong);
    return index.array();
  }

  /** Its checksum file, as Spark's. */
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

  /** The bytes of partitions [start, end). */
  public byte[] bytes(int start, int end) {
    return Arrays.copyOfRange(data, offsets[start], offsets[end]);
  }

  /** Puts it into the peer's memory; the address tells registrations apart. */
  public MapOutputLocation register(FakeTransport transport, long address) {
    transport.map(address, data);
    return location(transport, address, new RemoteRegion(address, data.length, rkey(address)));
  }

  /** Its partition table is in the peer's memory, its bytes are to be staged. */
  public MapOutputLocation stage(FakeTransport transport, long address) {
    return location(transport, address, MapOutputLocation.unregistered(data.length));
  }

  private MapOutputLocation location(FakeTransport transport, long address, RemoteRegion bytes) {
    long tableAddress = address + (1L << 32);
    transport.map(tableAddress, table);
    RemoteRegion entries = new RemoteRegion(tableAddress, table.length, rkey(address) + 1);
    return new MapOutputLocation(mapId, bytes, entries, algorithm);
  }

  private static int rkey(long address) {
    return (int) (address >> 8) + 1;
  }
}
