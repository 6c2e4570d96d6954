package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Whether a process may fork (ibv_is_fork_initialized(3)). */
public enum IbvForkStatus implements CConstant {
  DISABLED(0),
  ENABLED(1),
  UNNEEDED(2);

  private final int value;

  IbvForkStatus(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
