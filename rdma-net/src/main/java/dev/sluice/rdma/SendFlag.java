package dev.sluice.rdma;

/** {@code enum ibv_send_flags} (ibv_post_send(3)). */
public enum SendFlag {
  /** Start only when every earlier READ and atomic of the queue pair has completed. */
  FENCE(1),
  /** Generate a work completion also on success; a failed work request always generates one. */
  SIGNALED(1 << 1),
  /** Raise a completion event at a receiver that asked for solicited events only. */
  SOLICITED(1 << 2),
  /**
   * Copy the data at posting time: the buffers may be reused at once. Hardware does not look at the
   * lkeys; the software provider finds the memory by them and refuses wrong ones with EINVAL, so
   * portable programs give valid ones.
   */
  INLINE(1 << 3);

  private final int bit;

  SendFlag(int bit) {
    this.bit = bit;
  }

  /** The flag's bit in the C enum. */
  public int bit() {
    return bit;
  }
}
