package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CConstant;
import dev.sluice.rdma.verbs.ffi.CString;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Something that happened to a device, a port or an object (ibv_get_async_event(3)). Until it is
 * acknowledged, the object that it is about cannot be destroyed; the receiver closes it.
 */
public final class IbvAsyncEvent implements AutoCloseable {
  /** A copy: C wants the same contents at acknowledging, wherever they are. */
  private final MemorySegment event;

  private boolean acknowledged;

  private IbvAsyncEvent(MemorySegment event) {
    this.event = event;
  }

  static IbvAsyncEvent get(IbvContext context) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = IbvStructs.ASYNC_EVENT.allocate(arena);
      LibIbverbs.GET_ASYNC_EVENT.call(context.pointer(), event);
      return new IbvAsyncEvent(IbvStructs.copy(event));
    }
  }

  public IbvEventType type() {
    return CConstant.of(IbvEventType.class, typeValue());
  }

  /** The event in words (ibv_event_type_str(3)). */
  public String text() throws VerbsException {
    return CString.read(LibIbverbs.EVENT_TYPE_STR.callForPointer(typeValue()));
  }

  /** The port of a port's event. */
  public int port() {
    return event.get(JAVA_INT, IbvStructs.ASYNC_EVENT.offset("element"));
  }

  /** Whether the event is about a CQ, QP or SRQ. */
  public boolean isAbout(NativeObject object) throws VerbsException {
    return event.get(JAVA_LONG, IbvStructs.ASYNC_EVENT.offset("element"))
        == object.pointer().address();
  }

  private int typeValue() {
    return IbvStructs.ASYNC_EVENT.getInt(event, "event_type");
  }

  /** Acknowledges the event (ibv_ack_async_event(3)). Idempotent. */
  @Override
  public synchronized void close() throws VerbsException {
    if (!acknowledged) {
      acknowledged = true;
      try (Arena arena = Arena.ofConfined()) {
        LibIbverbs.ACK_ASYNC_EVENT.invoke(IbvStructs.ASYNC_EVENT.allocate(arena).copyFrom(event));
      }
    }
  }
}
