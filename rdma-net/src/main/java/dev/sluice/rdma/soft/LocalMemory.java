package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ScatterGatherEntry;
import java.util.List;

/** Finds the memory behind scatter/gather entries, with the checks of a NIC. */
final class LocalMemory {
  private LocalMemory() {}

  /** Whether all entries lie in regions of the domain that allow the access. */
  static boolean isAccessible(
      SoftProtectionDomain domain, List<ScatterGatherEntry> entries, boolean write) {
    for (int i = 0; i < entries.size(); i++) {
      ScatterGatherEntry entry = entries.get(i);
      if (entry.length() != 0 && find(domain, entry, write) == null) {
        return false;
      }
    }
    return true;
  }

  /**
   * Hands the memory of {@code length} bytes of the entries, from {@code offset} on, to a sink.
   *
   * @return false when an entry is not accessible; the sink then holds only a part
   */
  static boolean slices(
      SoftProtectionDomain domain,
      List<ScatterGatherEntry> entries,
      long offset,
      int length,
      boolean write,
      BufferSink sink) {
    long skip = offset;
    int left = length;
    for (int i = 0; i < entries.size() && left > 0; i++) {
      ScatterGatherEntry entry = entries.get(i);
      if (skip >= entry.length()) {
        skip -= entry.length();
        continue;
      }
      SoftMemoryRegion region = find(domain, entry, write);
      if (region == null) {
        return false;
      }
      int bytes = (int) Math.min(left, entry.length() - skip);
      sink.add(region.slice(entry.address() + skip, bytes), region);
      left -= bytes;
      skip = 0;
    }
    return left == 0;
  }

  private static SoftMemoryRegion find(
      SoftProtectionDomain domain, ScatterGatherEntry entry, boolean write) {
    SoftMemoryRegion region = domain.regionByLkey(entry.lkey());
    return region != null
            && region.contains(entry.address(), entry.length())
            && (!write || region.allows(AccessFlag.LOCAL_WRITE))
        ? region
        : null;
  }

  /** Bytes of the entries together. */
  static long length(List<ScatterGatherEntry> entries) {
    long length = 0;
    for (int i = 0; i < entries.size(); i++) {
      length += entries.get(i).length();
    }
    return length;
  }
}
