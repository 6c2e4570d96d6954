// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Results of ibv_reg_mr(3) for REMOTE_READ memory, as observed with rdma_rxe. */
enum Kernel {
  /** Kernels before 6.2: all pages are pinned for writing. */
  PINS_FOR_WRITING(VerbsException.EFAULT, VerbsException.EINVAL),

  /** Kernels since 6.2. */
  PINS_FOR_READING(0, VerbsException.EOPNOTSUPP),

  /** Later kernels, with a device that supports on-demand paging. */
  PAGES_ON_DEMAND(0, 0),

  /** Any kernel, on a file system whose pages cannot be pinned for long, such as DAX. */
  PINS_NO_FILE(VerbsException.EOPNOTSUPP, VerbsException.EOPNOTSUPP);

  private final int mappingErrno;
  private final int onDemandErrno;

  /**
   * @param mappingErrno answer for a read-only mapping of a file
   */
  Kernel(int mappingErrno, int onDemandErrno) {
    this.mappingErrno = mappingErrno;
    this.onDemandErrno = onDemandErrno;
  }

  /** Returns the error number; 0 if the memory is registered. */
  int register(MemorySegment memory, Set<AccessFlag> access) {
    if (access.contains(AccessFlag.ON_DEMAND)) {
      return onDemandErrno;
    }
    return memory.isMapped() ? mappingErrno : 0;
  }
}
