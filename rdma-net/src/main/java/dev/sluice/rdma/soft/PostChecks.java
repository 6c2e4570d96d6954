package dev.sluice.rdma.soft;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.ReceiveWorkRequest;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendFlag;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.VerbsException;
import java.nio.ByteBuffer;
import java.util.List;

/** What is refused when it is posted, before it takes a place in a queue. */
final class PostChecks {
  private PostChecks() {}

  /**
   * Checks a work request of the send queue and copies inline data.
   *
   * @param queued places of the send queue that are taken
   */
  static PendingSend prepare(
      SoftQueuePair queuePair, SendWorkRequest request, StateMachine states, int queued)
      throws VerbsException {
    checkPlace(queuePair, request, states, queued);
    List<ScatterGatherEntry> entries = request.scatterGather();
    QueuePairCapabilities limits = queuePair.capabilities();
    String problem = null;
    long length = LocalMemory.length(entries);
    boolean inline = request.flags().contains(SendFlag.INLINE);
    switch (request.opcode()) {
      case RECV, RECV_RDMA_WITH_IMM -> problem = "it is not a request";
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
          problem = length == Long.BYTES ? null : "an atomic returns 8 bytes, not " + length;
      default -> {}
    }
    boolean fetches =
        switch (request.opcode()) {
          case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> true;
          default -> false;
        };
    if (entries.size() > limits.maxSendSge()) {
      problem = entries.size() + " scatter/gather entries of at most " + limits.maxSendSge();
    } else if (hasNegativeLength(entries)
        || length > queuePair.device().attributes().maxMessageSize()) {
      problem = "too long";
    } else if (inline && fetches) {
      problem = "inline data is not for a request that returns data";
    } else if (inline && length > limits.maxInlineData()) {
      problem = length + " bytes inline of at most " + limits.maxInlineData();
    }
    if (problem != null) {
      throw new VerbsException(request.opcode().name(), VerbsException.EINVAL, problem);
    }
    return new PendingSend(
        request, inline ? copy(queuePair, request, (int) length) : null, (int) length);
  }

  private static void checkPlace(
      SoftQueuePair queuePair, SendWorkRequest request, StateMachine states, int queued)
      throws VerbsException {
    if (states.isClosed() || states.state() != QueuePairState.RTS && !states.isInError()) {
      throw new VerbsException(
          request.opcode().name(),
          VerbsException.EINVAL,
          "the queue pair is " + (states.isClosed() ? "closed" : "in " + states.state()));
    }
    if (queued == queuePair.capabilities().maxSendWr()) {
      throw new VerbsException(
          request.opcode().name(), VerbsException.ENOMEM, "the send queue is full");
    }
  }

  private static byte[] copy(SoftQueuePair queuePair, SendWorkRequest request, int length)
      throws VerbsException {
    ByteBuffer copy = ByteBuffer.allocate(length);
    BufferSink sink = (memory, region) -> copy.put(memory);
    if (!LocalMemory.slices(queuePair.domain(), request.scatterGather(), 0, length, false, sink)) {
      throw new VerbsException(
          request.opcode().name(), VerbsException.EINVAL, "inline data is not registered memory");
    }
    return copy.array();
  }

  /** Checks a work request of the receive queue. */
  static void check(
      SoftQueuePair queuePair,
      ReceiveWorkRequest request,
      StateMachine states,
      int queued,
      int index)
      throws PostException {
    QueuePairCapabilities limits = queuePair.capabilities();
    int entries = request.scatterGather().size();
    int errno = VerbsException.EINVAL;
    String problem = null;
    if (states.isClosed()) {
      problem = "the queue pair is closed";
    } else if (states.state() == QueuePairState.RESET) {
      problem = "the queue pair is in RESET";
    } else if (entries > limits.maxRecvSge() || hasNegativeLength(request.scatterGather())) {
      problem = entries + " scatter/gather entries of at most " + limits.maxRecvSge();
    } else if (queued == limits.maxRecvWr()) {
      errno = VerbsException.ENOMEM;
      problem = "the receive queue is full";
    }
    if (problem != null) {
      throw new PostException("ibv_post_recv(" + queuePair + ")", errno, problem, index);
    }
  }

  private static boolean hasNegativeLength(List<ScatterGatherEntry> entries) {
    for (ScatterGatherEntry entry : entries) {
      if (entry.length() < 0) {
        return true;
      }
    }
    return false;
  }
}
