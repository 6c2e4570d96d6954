package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What is going to be done with registered memory (ibv_advise_mr(3)). */
public enum IbvAdviseMrAdvice implements CConstant {
  PREFETCH(0),
  PREFETCH_WRITE(1),
  PREFETCH_NO_FAULT(2);

  private final int value;

  IbvAdviseMrAdvice(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
