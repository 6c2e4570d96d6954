package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Whether a process may fork (ibv_is_fork_initialized(3)). */
public enum IbvForkStatus implements CConstant {
  DISABLED,
  ENABLED,
  UNNEEDED
}
