// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * Status of a work completion: the values of {@code enum ibv_wc_status}, in its order
 * (ibv_poll_cq(3)). A provider maps the device's value to it. Each names the largest {@link Scope}
 * that it reports as broken, by which the transfer engine decides about retries.
 */
public enum WorkCompletionStatus {
  SUCCESS(Scope.NONE),
  LOC_LEN_ERR(Scope.QUEUE_PAIR),
  LOC_QP_OP_ERR(Scope.QUEUE_PAIR),
  LOC_EEC_OP_ERR(Scope.QUEUE_PAIR),
  LOC_PROT_ERR(Scope.OPERATION),
  WR_FLUSH_ERR(Scope.QUEUE_PAIR),
  MW_BIND_ERR(Scope.OPERATION),
  BAD_RESP_ERR(Scope.QUEUE_PAIR),
  LOC_ACCESS_ERR(Scope.OPERATION),
  REM_INV_REQ_ERR(Scope.OPERATION),
  REM_ACCESS_ERR(Scope.OPERATION),
  REM_OP_ERR(Scope.QUEUE_PAIR),
  RETRY_EXC_ERR(Scope.QUEUE_PAIR),
  RNR_RETRY_EXC_ERR(Scope.QUEUE_PAIR),
  LOC_RDD_VIOL_ERR(Scope.QUEUE_PAIR),
  REM_INV_RD_REQ_ERR(Scope.QUEUE_PAIR),
  REM_ABORT_ERR(Scope.OPERATION),
  INV_EECN_ERR(Scope.QUEUE_PAIR),
  INV_EEC_STATE_ERR(Scope.QUEUE_PAIR),
  /** irdma and mana report it for one queue pair. A failed device raises an event of its own. */
  FATAL_ERR(Scope.QUEUE_PAIR),
  RESP_TIMEOUT_ERR(Scope.QUEUE_PAIR),
  /** An error without a name here. Drivers report errors that they do not know with it. */
  GENERAL_ERR(Scope.QUEUE_PAIR),
  TM_ERR(Scope.OPERATION),
  TM_RNDV_INCOMPLETE(Scope.OPERATION);

  /**
   * Part that has to be replaced or corrected before the same transfer can work. Every failed work
   * request moves an RC queue pair to ERROR, whatever the scope. The scope says whether a fresh
   * queue pair alone would help.
   */
  public enum Scope {
    NONE,
    /** The request itself was wrong (address, key, length): the same request fails again. */
    OPERATION,
    /** The queue pair, the path or the peer failed: a fresh queue pair may help. */
    QUEUE_PAIR
  }

  private static final WorkCompletionStatus[] VALUES = values();

  private final Scope scope;

  WorkCompletionStatus(Scope scope) {
    this.scope = scope;
  }

  public Scope scope() {
    return scope;
  }

  /** Returns the status with this {@code ibv_wc_status} value; GENERAL_ERR for an unknown value. */
  public static WorkCompletionStatus of(int value) {
    return value >= 0 && value < VALUES.length ? VALUES[value] : GENERAL_ERR;
  }
}
