// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue: {@code struct ibv_cq} (ibv_create_cq(3)). Its {@link IbvContext} closes it,
 * after the protection domains with the queue pairs that use it. Any thread may poll, but each
 * completion goes to one poll. With a channel, arm it, poll again, and only then wait.
 */
public final class IbvCq extends NativeObject {
  private final IbvOps ops;
  private final @Nullable IbvCompChannel channel;
  private final AtomicInteger unacknowledged = new AtomicInteger();
  private volatile boolean closing;

  /** Announces completions on the channel; null for none. */
  IbvCq(IbvContext context, MemorySegment pointer, @Nullable IbvCompChannel channel) {
    super("completion queue", context, IbvStructs.CQ.at(pointer), LibIbverbs.DESTROY_CQ::invoke, 0);
    this.channel = channel;
    ops = context.ops();
    if (channel != null) {
      channel.add(this, pointer);
    }
  }

  /** Number of completions that the queue holds, at least as many as requested. */
  public int entries() {
    return IbvStructs.CQ.getInt(struct(), "cqe");
  }

  /**
   * Takes completions (ibv_poll_cq(3)). Never waits and allocates nothing.
   *
   * @param into receives up to its capacity of completions
   * @return the number of completions
   * @throws VerbsException EIO if the queue is unusable, for example after an overrun
   */
  public int poll(IbvWcArray into) throws VerbsException {
    return poll(into, into.capacity());
  }

  /** Takes at most {@code limit} completions; otherwise as {@link #poll(IbvWcArray)}. */
  public int poll(IbvWcArray into, int limit) throws VerbsException {
    int count = ops.pollCq(pointer().address(), Math.min(limit, into.capacity()), into.address());
    Reference.reachabilityFence(into);
    if (count < 0) {
      throw failure("ibv_poll_cq", VerbsException.EIO, "the completion queue is unusable");
    }
    return count;
  }

  /**
   * Arms the queue: the next completion raises one event (ibv_req_notify_cq(3)).
   *
   * @param solicitedOnly true to raise the event only for a solicited receive or an error
   */
  public void requestNotify(boolean solicitedOnly) throws VerbsException {
    int error = ops.requestNotify(pointer().address(), solicitedOnly);
    if (error != 0) {
      throw failure("ibv_req_notify_cq", Math.abs(error), "the queue cannot be armed");
    }
  }

  /**
   * Changes the number of completions that the queue holds (ibv_resize_cq(3)). Fewer than there are
   * to be polled are EINVAL.
   */
  public void resize(int entries) throws VerbsException {
    LibIbverbs.RESIZE_CQ.call(pointer(), entries);
  }

  /**
   * Counts a taken event. During {@link #close}, which waits for acknowledgements, this method
   * acknowledges the event itself, since the caller will not.
   */
  void received() throws VerbsException {
    unacknowledged.incrementAndGet();
    if (closing) {
      acknowledgeEvents();
    }
  }

  /**
   * Acknowledges all taken events (ibv_ack_cq_events(3)). C takes a lock, so acknowledge in
   * batches. Does nothing after {@link #close}, which acknowledges the events itself.
   */
  public void acknowledgeEvents() throws VerbsException {
    int events = unacknowledged.getAndSet(0);
    if (events > 0) {
      LibIbverbs.ACK_CQ_EVENTS.invoke(pointer(), events);
    }
  }

  /** Acknowledges the remaining events first, because destroying waits for them. */
  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    closing = true;
    try {
      acknowledgeEvents();
      super.destroy(pointer);
    } catch (VerbsException e) {
      closing = false;
      throw e;
    }
    if (channel != null) {
      channel.remove(this, pointer);
    }
  }
}
