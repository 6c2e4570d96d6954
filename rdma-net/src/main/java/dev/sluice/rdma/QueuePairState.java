// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/** States of a queue pair (ibv_modify_qp(3); IBTA specification, 10.3.1). */
public enum QueuePairState {
  /** Nothing may be posted. */
  RESET,
  /** The queue pair has an address, but no peer yet. */
  INIT,
  /** Ready to receive: answers the peer's requests. */
  RTR,
  /** Ready to send: processes the send queue. */
  RTS,
  /** Every work request, pending or posted from now on, completes with WR_FLUSH_ERR. */
  ERROR
}
