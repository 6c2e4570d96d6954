package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Locations of a shuffle's map outputs in the order of their publishing: {@value #RECORD_BYTES}
 * bytes each, 5 MB for 100,000 maps, in the very form in which they travel. Both the driver's
 * directory and the executors' tables consist of it; they see to it that one thread at a time uses
 * it.
 */
final class LocationLog {
  static final int RECORD_BYTES = 53;

  private static final int EXECUTOR = 8;
  private static final int DATA = 12;
  private static final int TABLE = 32;
  private static final int ALGORITHM = 52;

  /** Of a region, behind its address. */
  private static final int LENGTH = 8;

  private static final ChecksumAlgorithm[] ALGORITHMS = ChecksumAlgorithm.values();

  private ByteBuffer bytes = ByteBuffer.allocate(16 * RECORD_BYTES);
  private int count;

  int count() {
    return count;
  }

  /**
   * @param executor the executor's number
   */
  void append(int executor, MapOutputLocation location) {
    reserve(1);
    int at = count * RECORD_BYTES;
    bytes.putLong(at, location.mapId());
    bytes.putInt(at + EXECUTOR, executor);
    putRegion(at + DATA, location.data());
    putRegion(at + TABLE, location.table());
    bytes.put(at + ALGORITHM, (byte) location.checksumAlgorithm().ordinal());
    count++;
  }

  /**
   * Says whether bytes are records, so that no task finds out when it looks for a location.
   *
   * @throws IOException where they are not, with the reason
   */
  static void check(byte[] records) throws IOException {
    if (records.length % RECORD_BYTES != 0) {
      throw new IOException("records of %d bytes in all".formatted(records.length));
    }
    ByteBuffer bytes = ByteBuffer.wrap(records);
    for (int at = 0; at < records.length; at += RECORD_BYTES) {
      int algorithm = bytes.get(at + ALGORITHM);
      if (bytes.getInt(at + EXECUTOR) < 0
          || bytes.getLong(at + DATA + LENGTH) < 0
          || bytes.getLong(at + TABLE + LENGTH) < 0
          || algorithm < 0
          || algorithm >= ALGORITHMS.length) {
        throw new IOException("record %d is none".formatted(at / RECORD_BYTES));
      }
    }
  }

  /** Appends what {@link #records} of another log gave and {@link #check} finds right. */
  void append(byte[] records) {
    int added = records.length / RECORD_BYTES;
    reserve(added);
    bytes.put(count * RECORD_BYTES, records);
    count += added;
  }

  /** A copy of the records from the given one on. */
  byte[] records(int from) {
    return Arrays.copyOfRange(bytes.array(), from * RECORD_BYTES, count * RECORD_BYTES);
  }

  long mapId(int index) {
    return bytes.getLong(index * RECORD_BYTES);
  }

  int executor(int index) {
    return bytes.getInt(index * RECORD_BYTES + EXECUTOR);
  }

  MapOutputLocation location(int index) {
    int at = index * RECORD_BYTES;
    return new MapOutputLocation(
        mapId(index), region(at + DATA), region(at + TABLE), ALGORITHMS[bytes.get(at + ALGORITHM)]);
  }

  /** Drops the records of such executors; false when there were none. */
  boolean removeIf(IntPredicate executors) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (!executors.test(executor(i))) {
        bytes.put(kept * RECORD_BYTES, bytes.array(), i * RECORD_BYTES, RECORD_BYTES);
        kept++;
      }
    }
    boolean removed = kept < count;
    count = kept;
    return removed;
  }

  private void reserve(int added) {
    int needed = Math.multiplyExact(count + added, RECORD_BYTES);
    if (needed > bytes.capacity()) {
      long doubled = Math.min(2L * bytes.capacity(), Integer.MAX_VALUE - 8);
      bytes = ByteBuffer.wrap(Arrays.copyOf(bytes.array(), (int) Math.max(needed, doubled)));
    }
  }

  private void putRegion(int at, RemoteRegion region) {
    bytes.putLong(at, region.address());
    bytes.putLong(at + LENGTH, region.length());
    bytes.putInt(at + 16, region.rkey());
  }

  private RemoteRegion region(int at) {
    return new RemoteRegion(bytes.getLong(at), bytes.getLong(at + LENGTH), bytes.getInt(at + 16));
  }
}
