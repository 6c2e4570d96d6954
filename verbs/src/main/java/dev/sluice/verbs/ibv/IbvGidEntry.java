// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.ByteOrder;

/**
 * An entry of a GID table: {@code struct ibv_gid_entry} (ibv_query_gid_ex(3)). A copy: the kernel
 * may have changed the table since. Immutable.
 *
 * @param index index in the port's table
 * @param port from 1
 * @param interfaceIndex index of the GID's net device, 0 for none
 */
public record IbvGidEntry(Gid gid, int index, int port, CValue<Type> type, int interfaceIndex) {
  /** Protocol of a GID ({@code enum ibv_gid_type}). */
  public enum Type implements CConstant {
    IB,
    ROCE_V1,
    ROCE_V2
  }

  static IbvGidEntry read(MemorySegment entry) {
    return new IbvGidEntry(
        gid(IbvStructs.GID_ENTRY.part(entry, "gid")),
        IbvStructs.GID_ENTRY.getInt(entry, "gid_index"),
        IbvStructs.GID_ENTRY.getInt(entry, "port_num"),
        new CValue<>(Type.class, IbvStructs.GID_ENTRY.getInt(entry, "gid_type")),
        IbvStructs.GID_ENTRY.getInt(entry, "ndev_ifindex"));
  }

  /** Reads a {@code union ibv_gid}: 16 bytes in network byte order. */
  public static Gid gid(MemorySegment union) {
    return new Gid(
        union.get(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0),
        union.get(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), Long.BYTES));
  }

  /** Allocates and fills a {@code union ibv_gid}. */
  static MemorySegment write(Gid gid, SegmentAllocator allocator) {
    MemorySegment union = IbvStructs.GID.allocate(allocator);
    write(gid, union);
    return union;
  }

  /** Writes a {@code union ibv_gid}. */
  public static void write(Gid gid, MemorySegment union) {
    union.set(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0, gid.subnetPrefix());
    union.set(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), Long.BYTES, gid.interfaceId());
  }
}
