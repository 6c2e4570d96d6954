package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.FileDescriptors;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where completion queues announce completions: {@code struct ibv_comp_channel}
 * (ibv_create_comp_channel(3)). One thread at a time waits on it.
 */
public final class IbvCompChannel extends NativeObject {
  private final int fd;
  private final Map<Long, IbvCq> cqs = new ConcurrentHashMap<>();

  IbvCompChannel(IbvContext context, MemorySegment pointer) {
    super("completion channel", context, pointer);
    fd = IbvStructs.COMP_CHANNEL.getInt(IbvStructs.COMP_CHANNEL.at(pointer), "fd");
  }

  /** The descriptor that becomes readable when there is an event. */
  public int fd() {
    return fd;
  }

  /** Completion queues use it. */
  @Override
  protected int rank() {
    return 1;
  }

  /** Makes {@link #getEvent} return empty where it would wait. */
  public void setNonBlocking() throws VerbsException {
    FileDescriptors.setNonBlocking(fd);
  }

  /**
   * Waits for an event and takes it (ibv_get_cq_event(3)).
   *
   * @param timeoutMs 0 returns at once
   * @return the queue, on which the caller acknowledges the event; empty after the timeout
   */
  public Optional<IbvCq> awaitEvent(long timeoutMs) throws VerbsException {
    return FileDescriptors.awaitReadable(timeoutMs, fd) == 0 ? Optional.empty() : getEvent();
  }

  /** Takes an event (ibv_get_cq_event(3)); waits for one unless the channel is non-blocking. */
  public Optional<IbvCq> getEvent() throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cq = arena.allocate(ADDRESS);
      MemorySegment context = arena.allocate(ADDRESS);
      LibIbverbs.GET_CQ_EVENT.call(pointer(), cq, context);
      IbvCq announced = cqs.get(cq.get(ADDRESS, 0).address());
      announced.received();
      return Optional.of(announced);
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.EAGAIN) {
        return Optional.empty();
      }
      throw e;
    }
  }

  void add(IbvCq cq) throws VerbsException {
    cqs.put(cq.pointer().address(), cq);
  }

  void remove(MemorySegment cq) {
    cqs.remove(cq.address());
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DESTROY_COMP_CHANNEL.call(pointer);
  }
}
