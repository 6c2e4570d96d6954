// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.util.Set;

/**
 * Access rights of a memory region or of a queue pair: {@code enum ibv_access_flags}
 * (ibv_reg_mr(3)). Local reads are always allowed.
 */
public enum AccessFlag {
  LOCAL_WRITE(1),
  REMOTE_READ(1 << 2),

  /**
   * On-demand paging: no page is pinned, and the device faults pages in when it needs them. May be
   * combined with any other flag. Not every device supports it.
   */
  ON_DEMAND(1 << 6);

  private final int bit;

  AccessFlag(int bit) {
    this.bit = bit;
  }

  /** Returns the flag's bit in the C enum. */
  public int bit() {
    return bit;
  }

  /** Returns the bits of all flags in one int, as the C functions take them. */
  public static int bits(Set<AccessFlag> flags) {
    int bits = 0;
    for (AccessFlag flag : flags) {
      bits |= flag.bit;
    }
    return bits;
  }
}
