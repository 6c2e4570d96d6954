package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/**
 * An entry of a GID table: {@code struct ibv_gid_entry}.
 *
 * @param index in the port's table
 * @param port from 1
 * @param interfaceIndex of the net device it belongs to, 0 for none
 */
public record IbvGidEntry(
    Gid gid, int index, int port, CValue<IbvGidType> type, int interfaceIndex) {

  static IbvGidEntry read(MemorySegment entry) {
    return new IbvGidEntry(
        gid(IbvStructs.GID_ENTRY.part(entry, "gid")),
        IbvStructs.GID_ENTRY.getInt(entry, "gid_index"),
        IbvStructs.GID_ENTRY.getInt(entry, "port_num"),
        new CValue<>(IbvGidType.class, IbvStructs.GID_ENTRY.getInt(entry, "gid_type")),
        IbvStructs.GID_ENTRY.getInt(entry, "ndev_ifindex"));
  }

  /** Reads a {@code union ibv_gid}: 16 bytes in network byte order. */
  public static Gid gid(MemorySegment union) {
    return new Gid(
        union.get(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0),
        union.get(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), Long.BYTES));
  }

  /** Writes a {@code union ibv_gid}. */
  public static void write(Gid gid, MemorySegment union) {
    union.set(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0, gid.subnetPrefix());
    union.set(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), Long.BYTES, gid.interfaceId());
  }
}
