// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a new queue pair: {@code struct ibv_qp_init_attr} (ibv_create_qp(3)). Immutable.
 * The queues must stay open until the queue pair is closed.
 *
 * @param sendCq queue for completions of the send queue; null only for the type XRC_RECV
 * @param recvCq queue for completions of the receive queue, or the same; null only for XRC types
 * @param srq shared receive queue that replaces the receive queue; null for none
 * @param signalAll true if every send request is signaled
 */
public record IbvQpInitAttr(
    IbvQp.Type type,
    @Nullable IbvCq sendCq,
    @Nullable IbvCq recvCq,
    @Nullable IbvSrq srq,
    IbvQpCap cap,
    boolean signalAll) {

  /** Uses one completion queue for both directions. Signals only requests with SIGNALED. */
  public static IbvQpInitAttr of(IbvQp.Type type, IbvCq cq, IbvQpCap cap) {
    return new IbvQpInitAttr(type, cq, cq, null, cap, false);
  }

  /** Fills in the structure, or the start of the extended structure. */
  void write(MemorySegment struct) throws VerbsException {
    require(sendCq, type == IbvQp.Type.XRC_RECV, "send");
    require(recvCq, type == IbvQp.Type.XRC_RECV || type == IbvQp.Type.XRC_SEND, "receive");
    IbvStructs.QP_INIT_ATTR.set(struct, "send_cq", sendCq);
    IbvStructs.QP_INIT_ATTR.set(struct, "recv_cq", recvCq);
    IbvStructs.QP_INIT_ATTR.set(struct, "srq", srq);
    cap.write(IbvStructs.QP_INIT_ATTR.part(struct, "cap"));
    IbvStructs.QP_INIT_ATTR.set(struct, "qp_type", type.value());
    IbvStructs.QP_INIT_ATTR.set(struct, "sq_sig_all", signalAll ? 1 : 0);
  }

  /** Refuses a missing completion queue: for other types, libraries dereference it unchecked. */
  private void require(@Nullable IbvCq cq, boolean mayLack, String direction)
      throws VerbsException {
    if (cq == null && !mayLack) {
      throw VerbsException.invalid(
          "creation of a queue pair", "type " + type + " needs a completion queue to " + direction);
    }
  }
}
