package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** A completion queue: {@code struct ibv_cq} (ibv_create_cq(3)). */
public final class IbvCq extends NativeObject {
  private final MemorySegment struct;
  private final long address;
  private final IbvOps ops;
  private final IbvCompChannel channel;
  private final AtomicInteger unacknowledged = new AtomicInteger();

  /**
   * @param channel where it announces completions; null for none
   */
  public IbvCq(IbvContext context, MemorySegment pointer, IbvCompChannel channel) {
    super("completion queue", context, pointer);
    this.channel = channel;
    struct = IbvStructs.CQ.at(pointer);
    address = pointer.address();
    ops = context.ops();
  }

  /** Completions that it holds, at least as many as were asked for. */
  public int entries() {
    return IbvStructs.CQ.getInt(struct, "cqe");
  }

  /**
   * Takes completions (ibv_poll_cq(3)); never waits and allocates nothing.
   *
   * @param into overwritten, as many as it holds
   * @return their number
   * @throws VerbsException EIO when the queue is unusable, as after an overrun
   */
  public int poll(IbvWcArray into) throws VerbsException {
    return poll(into, into.capacity());
  }

  /** As {@link #poll(IbvWcArray)}, at most {@code limit} of them. */
  public int poll(IbvWcArray into, int limit) throws VerbsException {
    int count = ops.pollCq(address, Math.min(limit, into.capacity()), into.address());
    if (count < 0) {
      throw new VerbsException(
          "ibv_poll_cq(" + this + ")", VerbsException.EIO, "the completion queue is unusable");
    }
    return count;
  }

  /**
   * Arms the queue: the next completion raises one event (ibv_req_notify_cq(3)).
   *
   * @param solicitedOnly only for a solicited receive or an error
   */
  public void requestNotify(boolean solicitedOnly) throws VerbsException {
    int error = ops.requestNotify(address, solicitedOnly);
    if (error != 0) {
      throw new VerbsException(
          "ibv_req_notify_cq(" + this + ")", Math.abs(error), "the queue cannot be armed");
    }
  }

  /**
   * Changes the number of completions that it holds (ibv_resize_cq(3)).
   *
   * @throws VerbsException EINVAL for fewer than there are to be polled
   */
  public void resize(int entries) throws VerbsException {
    LibIbverbs.RESIZE_CQ.call(pointer(), entries);
  }

  void received() {
    unacknowledged.incrementAndGet();
  }

  /**
   * Acknowledges all events that were taken (ibv_ack_cq_events(3)): a lock, so better in batches.
   */
  public void acknowledgeEvents() throws VerbsException {
    int events = unacknowledged.getAndSet(0);
    if (events > 0) {
      LibIbverbs.ACK_CQ_EVENTS.invoke(pointer(), events);
    }
  }

  /** Acknowledges what is left first, since destroying waits for it. */
  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    int events = unacknowledged.getAndSet(0);
    if (events > 0) {
      LibIbverbs.ACK_CQ_EVENTS.invoke(pointer, events);
    }
    LibIbverbs.DESTROY_CQ.call(pointer);
    if (channel != null) {
      channel.remove(pointer);
    }
  }
}
