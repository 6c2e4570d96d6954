package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What memory cannot be registered (ibv_reg_mr(3)). */
final class RegistrationChecks {
  private RegistrationChecks() {}

  /** Why the memory cannot be registered; null if it can. */
  static String problem(MemorySegment memory, Set<AccessFlag> access, SoftDevice device) {
    boolean remoteChange =
        access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC);
    if (remoteChange && !access.contains(AccessFlag.LOCAL_WRITE)) {
      return "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE";
    }
    if (access.contains(AccessFlag.LOCAL_WRITE) && memory.isReadOnly()) {
      return "read-only memory cannot be registered for writing";
    }
    if (!memory.isNative()) {
      return "memory on the heap cannot be registered";
    }
    if (!memory.isAccessibleBy(device.ioThread())) {
      return "memory of a confined arena cannot be registered";
    }
    if (memory.byteSize() == 0 || memory.byteSize() > device.attributes().maxMemoryRegionSize()) {
      return "a region has 1 to " + device.attributes().maxMemoryRegionSize() + " bytes";
    }
    return null;
  }
}
