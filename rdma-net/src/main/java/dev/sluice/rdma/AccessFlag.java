package dev.sluice.rdma;

import java.util.Set;

/**
 * What may be done to a memory region or to a queue pair's memory: {@code enum ibv_access_flags}
 * (ibv_reg_mr(3)). Local read is always allowed.
 */
public enum AccessFlag {
  LOCAL_WRITE(1),
  REMOTE_READ(1 << 2),

  /**
   * On-demand paging: no page is pinned, the device faults pages in when it needs them. Goes with
   * any other flag, on devices that can do it.
   */
  ON_DEMAND(1 << 6);

  private final int bit;

  AccessFlag(int bit) {
    this.bit = bit;
  }

  /** The flag's bit in the C enum. */
  public int bit() {
    return bit;
  }

  /** All of them in one int, as C's functions take them. */
  public static int bits(Set<AccessFlag> flags) {
    int bits = 0;
    for (AccessFlag flag : flags) {
      bits |= flag.bit;
    }
    return bits;
  }
}
