package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ScatterGatherEntry;
import java.util.List;

/** Finds the memory that bytes are READ into, with the checks of a NIC. */
final class LocalMemory {
  private LocalMemory() {}

  /** Whether all entries lie in regions of the domain that may be written to. */
  static boolean isAccessible(SoftProtectionDomain domain, List<ScatterGatherEntry> entries) {
    for (int i = 0; i < entries.size(); i++) {
      ScatterGatherEntry entry = entries.get(i);
      if (entry.length() != 0 && find(domain, entry) == null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Has the payload go to {@code length} bytes of the entries, from {@code offset} on.
   *
   * @return false when an entry is not accessible; the payload then has only a part of them
   */
  static boolean slices(
      SoftProtectionDomain domain,
      List<ScatterGatherEntry> entries,
      long offset,
      int length,
      Payload payload) {
    long skip = offset;
    int left = length;
    for (int i = 0; i < entries.size() && left > 0; i++) {
      ScatterGatherEntry entry = entries.get(i);
      if (skip >= entry.length()) {
        skip -= entry.length();
        continue;
      }
      SoftMemoryRegion region = find(domain, entry);
      if (region == null) {
        return false;
      }
      int bytes = (int) Math.min(left, entry.length() - skip);
      payload.add(region.slice(entry.address() + skip, bytes), region);
      left -= bytes;
      skip = 0;
    }
    return left == 0;
  }

  private static SoftMemoryRegion find(SoftProtectionDomain domain, ScatterGatherEntry entry) {
    SoftMemoryRegion region = domain.regionByLkey(entry.lkey());
    return region != null
            && region.contains(entry.address(), entry.length())
            && region.allows(AccessFlag.LOCAL_WRITE)
        ? region
        : null;
  }
}
