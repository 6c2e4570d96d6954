package dev.sluice.blocks;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What ibv_reg_mr(3) of REMOTE_READ memory answers, as it was observed with rdma_rxe. */
enum Kernel {
  /** Before 6.2: all pages are pinned for writing. */
  PINS_FOR_WRITING(VerbsException.EFAULT, 0, VerbsException.EINVAL),

  /** 6.2 and later. */
  PINS_FOR_READING(0, 0, VerbsException.EOPNOTSUPP),

  /** Later still, with a device that can do it. */
  PAGES_ON_DEMAND(0, 0, 0),

  /** Any, on a file system whose pages no device may hold for long, such as DAX. */
  PINS_NO_FILE(VerbsException.EOPNOTSUPP, VerbsException.EOPNOTSUPP, VerbsException.EOPNOTSUPP);

  private final int readOnlyErrno;
  private final int readWriteErrno;
  private final int onDemandErrno;

  Kernel(int readOnlyErrno, int readWriteErrno, int onDemandErrno) {
    this.readOnlyErrno = readOnlyErrno;
    this.readWriteErrno = readWriteErrno;
    this.onDemandErrno = onDemandErrno;
  }

  /** The error number; 0 where the memory is registered. */
  int register(MemorySegment memory, Set<AccessFlag> access) {
    if (access.contains(AccessFlag.ON_DEMAND)) {
      return onDemandErrno;
    }
    if (!memory.isMapped()) {
      return 0;
    }
    return memory.isReadOnly() ? readOnlyErrno : readWriteErrno;
  }
}
