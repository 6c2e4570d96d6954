// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Enhanced connection establishment options: {@code struct ibv_ece} (ibv_query_ece(3)). Both sides
 * pass them on as they are; only the devices' drivers understand them. Immutable.
 *
 * @param vendorId the device vendor's IEEE OUI
 * @param options options in the vendor's encoding
 * @param compMask further valid members; none exist so far
 */
public record IbvEce(int vendorId, int options, int compMask) {
  /** Returns these options as a {@code struct ibv_ece}. */
  public MemorySegment write(SegmentAllocator allocator) {
    MemorySegment struct = IbvStructs.ECE.allocate(allocator);
    IbvStructs.ECE.set(struct, "vendor_id", vendorId);
    IbvStructs.ECE.set(struct, "options", options);
    IbvStructs.ECE.set(struct, "comp_mask", compMask);
    return struct;
  }

  /** Reads a {@code struct ibv_ece}. */
  public static IbvEce read(MemorySegment struct) {
    return new IbvEce(
        IbvStructs.ECE.getInt(struct, "vendor_id"),
        IbvStructs.ECE.getInt(struct, "options"),
        IbvStructs.ECE.getInt(struct, "comp_mask"));
  }
}
