package dev.sluice.rdma.verbs.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.FileDescriptors;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where ids announce their events: {@code struct rdma_event_channel}
 * (rdma_create_event_channel(3)). It owns the ids that were created on it. One thread at a time
 * takes events, and the same thread, or nobody else at that time, closes ids: taking an event works
 * on its id.
 */
public final class RdmaEventChannel extends NativeObject {
  private static final int ENODEV = 19;

  private final int fd;
  private final Map<Long, RdmaCmId> ids = new ConcurrentHashMap<>();

  private RdmaEventChannel(MemorySegment pointer) {
    super("event channel", null, pointer);
    fd = RdmaCmStructs.EVENT_CHANNEL.getInt(RdmaCmStructs.EVENT_CHANNEL.at(pointer), "fd");
  }

  /**
   * Opens a channel; the caller closes it.
   *
   * @throws ProviderUnavailableException when librdmacm cannot be loaded or used here, with what to
   *     do
   */
  public static RdmaEventChannel create() throws VerbsException, ProviderUnavailableException {
    LibRdmacm.LIBRARY.require();
    try {
      RdmaEventChannel channel =
          new RdmaEventChannel(LibRdmacm.CREATE_EVENT_CHANNEL.callForPointer());
      FileDescriptors.setNonBlocking(channel.fd);
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

  /** What to do about an error number of rdma_create_event_channel(3); null if it is another's. */
  private static String unavailable(int errno) {
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

  /** The descriptor that becomes readable when there is an event. */
  public int fd() {
    return fd;
  }

  /** Creates an id (rdma_create_id(3)). */
  public RdmaCmId createId(RdmaPortSpace portSpace) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = arena.allocate(ADDRESS);
      LibRdmacm.CREATE_ID.call(pointer(), id, MemorySegment.NULL, portSpace.value());
      return adopt(new RdmaCmId(this, id.get(ADDRESS, 0)));
    }
  }

  /**
   * Waits for an event and takes it (rdma_get_cm_event(3)).
   *
   * @param timeoutMs 0 returns at once
   * @return the event, which the caller closes; empty after the timeout, or when the event's id is
   *     closed already
   */
  public Optional<RdmaCmEvent> awaitEvent(long timeoutMs) throws VerbsException {
    return FileDescriptors.awaitReadable(timeoutMs, fd) == 0 ? Optional.empty() : getEvent();
  }

  /** Takes an event if there is one; never waits. */
  public Optional<RdmaCmEvent> getEvent() throws VerbsException {
    MemorySegment event;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(ADDRESS);
      LibRdmacm.GET_CM_EVENT.call(pointer(), result);
      event = result.get(ADDRESS, 0);
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.EAGAIN) {
        return Optional.empty();
      }
      throw e;
    }
    return received(event);
  }

  private Optional<RdmaCmEvent> received(MemorySegment event) throws VerbsException {
    MemorySegment struct = RdmaCmStructs.CM_EVENT.at(event);
    MemorySegment id = RdmaCmStructs.CM_EVENT.getPointer(struct, "id");
    MemorySegment listening = RdmaCmStructs.CM_EVENT.getPointer(struct, "listen_id");
    RdmaCmId owner = ids.get(listening.address() == 0 ? id.address() : listening.address());
    RdmaCmId subject = listening.address() == 0 ? owner : adopt(new RdmaCmId(this, id));
    RdmaCmEvent received = new RdmaCmEvent(event, subject, owner);
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

  /** Not another id that is at the same address by now. */
  void remove(RdmaCmId id, MemorySegment pointer) {
    ids.remove(pointer.address(), id);
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibRdmacm.DESTROY_EVENT_CHANNEL.invoke(pointer);
  }
}
