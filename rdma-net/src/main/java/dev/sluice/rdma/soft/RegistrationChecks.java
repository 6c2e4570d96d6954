package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What memory cannot be registered (ibv_reg_mr(3)). */
final class RegistrationChecks {
  private RegistrationChecks() {}

  /** Refuses, as a device would, what cannot be registered. */
  static void check(MemorySegment memory, Set<AccessFlag> access, SoftDevice device)
      throws VerbsException {
    String problem = problem(memory, access, device);
    if (problem != null) {
      throw refusal(memory, access, VerbsException.EINVAL, problem);
    }
    if (access.contains(AccessFlag.ON_DEMAND)) {
      throw refusal(memory, access, VerbsException.EOPNOTSUPP, "no on-demand paging");
    }
  }

  private static VerbsException refusal(
      MemorySegment memory, Set<AccessFlag> access, int errno, String reason) {
    return new VerbsException(
        "ibv_reg_mr(length=" + memory.byteSize() + ", access=" + access + ")", errno, reason);
  }

  /** What is wrong with the arguments; null if nothing is. */
  private static String problem(MemorySegment memory, Set<AccessFlag> access, SoftDevice device) {
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
