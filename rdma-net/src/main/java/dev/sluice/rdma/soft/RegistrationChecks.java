// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.StoredFile;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks that memory or a file can be registered (ibv_reg_mr(3)), for the {@link
 * SoftProtectionDomain}. Any thread.
 */
final class RegistrationChecks {
  private RegistrationChecks() {}

  /** Refuses memory that a device would refuse. */
  static void check(MemorySegment memory, Set<AccessFlag> access, SoftDevice device)
      throws VerbsException {
    String problem = problem(memory, access, device);
    if (problem != null) {
      throw refusal(memory, access, VerbsException.EINVAL, problem);
    }
    if (access.contains(AccessFlag.ON_DEMAND)) {
      throw refusal(
          memory,
          access,
          VerbsException.EOPNOTSUPP,
          "the software provider has no on-demand paging");
    }
  }

  /** Refuses a file that cannot be registered. */
  static void check(StoredFile file, long bytes) throws VerbsException {
    String operation = "register a file of " + bytes + " bytes";
    long size;
    try {
      size = file.size();
    } catch (IOException e) {
      throw new VerbsException(operation, VerbsException.EIO, e.toString());
    }
    String problem = size < bytes ? "the file has " + size + " bytes" : sizeProblem(bytes);
    if (problem != null) {
      throw new VerbsException(operation, VerbsException.EINVAL, problem);
    }
  }

  private static VerbsException refusal(
      MemorySegment memory, Set<AccessFlag> access, int errno, String reason) {
    return new VerbsException(
        "ibv_reg_mr(length=" + memory.byteSize() + ", access=" + access + ")", errno, reason);
  }

  /** The problem with the arguments; null if there is none. */
  private static @Nullable String problem(
      MemorySegment memory, Set<AccessFlag> access, SoftDevice device) {
    if (access.contains(AccessFlag.LOCAL_WRITE) && memory.isReadOnly()) {
      return "read-only memory cannot be registered for writing";
    }
    if (!memory.isNative()) {
      return "memory on the heap cannot be registered";
    }
    if (!memory.isAccessibleBy(device.ioThread())) {
      return "memory of a confined arena cannot be registered";
    }
    return sizeProblem(memory.byteSize());
  }

  private static @Nullable String sizeProblem(long bytes) {
    return bytes < 1 ? "a memory region must have at least 1 byte" : null;
  }
}
