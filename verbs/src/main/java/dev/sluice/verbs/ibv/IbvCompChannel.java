// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.util.Objects.requireNonNull;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Channel on which completion queues announce completions: {@code struct ibv_comp_channel}
 * (ibv_create_comp_channel(3)). One thread at a time waits on it, and acknowledges the events on
 * their queues. Its {@link IbvContext} closes it, after the queues.
 */
public final class IbvCompChannel extends NativeObject {
  private final Map<Long, IbvCq> cqs = new ConcurrentHashMap<>();
  private volatile boolean nonBlocking;

  IbvCompChannel(IbvContext context, MemorySegment pointer) {
    super(
        "completion channel",
        context,
        IbvStructs.COMP_CHANNEL.at(pointer),
        LibIbverbs.DESTROY_COMP_CHANNEL::invoke,
        1);
  }

  /** File descriptor that becomes readable when there is an event. */
  public int fd() {
    return IbvStructs.COMP_CHANNEL.getInt(struct(), "fd");
  }

  /** Makes {@link #getEvent} return empty instead of waiting. */
  public void setNonBlocking() throws VerbsException {
    FileDescriptors.setNonBlocking(fd());
    nonBlocking = true;
  }

  /**
   * Waits for an event and takes it (ibv_get_cq_event(3)). Makes the channel {@linkplain
   * #setNonBlocking non-blocking}: closing a queue removes its events, even after the channel
   * became readable, and taking one must not wait for the next event.
   *
   * @param timeoutMs 0 returns at once
   * @return the queue, on which the caller acknowledges the event; empty after the timeout
   */
  public Optional<IbvCq> awaitEvent(long timeoutMs) throws VerbsException {
    if (!nonBlocking) {
      setNonBlocking();
    }
    return FileDescriptors.awaitReadable(timeoutMs, fd()) == 0 ? Optional.empty() : getEvent();
  }

  /** Takes an event (ibv_get_cq_event(3)); waits for one unless the channel is non-blocking. */
  public Optional<IbvCq> getEvent() throws VerbsException {
    MemorySegment cq = HEAP.allocate(ADDRESS);
    MemorySegment context = HEAP.allocate(ADDRESS);
    if (!LibIbverbs.GET_CQ_EVENT.succeeds(VerbsException.EAGAIN, pointer(), cq, context)) {
      return Optional.empty();
    }
    IbvCq announced = requireNonNull(cqs.get(cq.get(ADDRESS, 0).address()));
    announced.received();
    return Optional.of(announced);
  }

  void add(IbvCq cq, MemorySegment pointer) {
    cqs.put(pointer.address(), cq);
  }

  /** Removes a closed queue, unless C has created a newer queue at the same address. */
  void remove(IbvCq cq, MemorySegment pointer) {
    cqs.remove(pointer.address(), cq);
  }
}
