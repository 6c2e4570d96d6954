package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** States of automatic path migration ({@code enum ibv_mig_state}). */
public enum IbvMigState implements CConstant {
  MIGRATED(0),
  REARM(1),
  ARMED(2);

  private final int value;

  IbvMigState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
