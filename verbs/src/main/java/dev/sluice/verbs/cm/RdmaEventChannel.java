// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Channel on which ids announce their events: {@code struct rdma_event_channel}
 * (rdma_create_event_channel(3)). It owns the ids that were created on it, and closes them with
 * itself; the caller of {@link #create} closes it. One thread at a time takes events. No other
 * thread may close ids at that time, because taking an event uses its id.
 */
public final class RdmaEventChannel extends NativeObject {
  private static final int ENODEV = 19;

  private final Map<Long, RdmaCmId> ids = new ConcurrentHashMap<>();

  private RdmaEventChannel(MemorySegment pointer) {
    super(
        "event channel",
        null,
        RdmaCmStructs.EVENT_CHANNEL.at(pointer),
        LibRdmacm.DESTROY_EVENT_CHANNEL::invoke,
        0);
  }

  /**
   * Opens a channel; the caller closes it.
   *
   * @throws ProviderUnavailableException if librdmacm cannot be used here; the message gives the
   *     remedy
   */
  public static RdmaEventChannel create() throws VerbsException, ProviderUnavailableException {
    LibRdmacm.Library.RDMACM.require();
    try {
      RdmaEventChannel channel =
          new RdmaEventChannel(LibRdmacm.CREATE_EVENT_CHANNEL.callForPointer());
      try {
        FileDescriptors.setNonBlocking(channel.fd());
      } catch (VerbsException | RuntimeException | Error e) {
        channel.close();
        throw e;
      }
      return channel;
    } catch (VerbsException e) {
      String reason = unavailable(e.errno());
      if (reason == null) {
        throw e;
      }
      throw new ProviderUnavailableException(
          "rdma_cm cannot be used: " + reason + " (" + e.getMessage() + ")");
    }
  }

  /** Returns advice for an error number of rdma_create_event_channel(3); null if there is none. */
  private static @Nullable String unavailable(int errno) {
    return switch (errno) {
      case ENODEV, VerbsException.ENOSYS ->
          "there is no RDMA device: load ib_uverbs and the device's driver";
      case VerbsException.ENOENT ->
          "there is no /dev/infiniband/rdma_cm: load the kernel module rdma_ucm, and in a container"
              + " pass the device on";
      case VerbsException.EACCES, VerbsException.EPERM ->
          "no permission on /dev/infiniband/rdma_cm: in a container pass the device on, else let"
              + " this user read and write it";
      default -> null;
    };
  }

  /** File descriptor that becomes readable when there is an event. */
  public int fd() {
    return RdmaCmStructs.EVENT_CHANNEL.getInt(struct(), "fd");
  }

  /** Creates an id (rdma_create_id(3)). */
  public RdmaCmId createId(RdmaCmId.PortSpace portSpace) throws VerbsException {
    MemorySegment id = HEAP.allocate(ADDRESS);
    LibRdmacm.CREATE_ID.call(pointer(), id, MemorySegment.NULL, portSpace.value());
    return adopt(new RdmaCmId(this, id.get(ADDRESS, 0)));
  }

  /**
   * Waits for an event and takes it (rdma_get_cm_event(3)).
   *
   * @param timeoutMs 0 returns at once
   * @return the event, which the caller closes; empty after the timeout, or if the id is closed
   */
  public Optional<RdmaCmEvent> awaitEvent(long timeoutMs) throws VerbsException {
    return FileDescriptors.awaitReadable(timeoutMs, fd()) == 0 ? Optional.empty() : getEvent();
  }

  /** Takes an event if there is one; never waits. */
  public Optional<RdmaCmEvent> getEvent() throws VerbsException {
    MemorySegment result = HEAP.allocate(ADDRESS);
    if (!LibRdmacm.GET_CM_EVENT.succeeds(VerbsException.EAGAIN, pointer(), result)) {
      return Optional.empty();
    }
    MemorySegment event = result.get(ADDRESS, 0);
    MemorySegment struct = RdmaCmStructs.CM_EVENT.at(event);
    MemorySegment id = RdmaCmStructs.CM_EVENT.getPointer(struct, "id");
    MemorySegment listening = RdmaCmStructs.CM_EVENT.getPointer(struct, "listen_id");
    RdmaCmId owner = ids.get(listening.address() == 0 ? id.address() : listening.address());
    if (owner == null) {
      LibRdmacm.ACK_CM_EVENT.call(event); // the id is not of this channel
      return Optional.empty();
    }
    RdmaCmId subject = listening.address() == 0 ? owner : adopt(new RdmaCmId(this, id));
    RdmaCmEvent received = new RdmaCmEvent(event, subject, owner, false);
    if (owner.received(received)) {
      return Optional.of(received);
    }
    received.close();
    if (subject != owner) {
      subject.close();
    }
    return Optional.empty();
  }

  void add(RdmaCmId id, MemorySegment pointer) {
    ids.put(pointer.address(), id);
  }

  /** Removes an id, unless another id has the same address by now. */
  void remove(RdmaCmId id, MemorySegment pointer) {
    ids.remove(pointer.address(), id);
  }
}
