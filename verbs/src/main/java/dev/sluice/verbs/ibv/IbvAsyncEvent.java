// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;

/**
 * An asynchronous event of a device, a port or an object (ibv_get_async_event(3)). The receiver
 * closes the event, which acknowledges it. Until then, the event's object cannot be destroyed:
 * closing that object waits. Any thread; {@link IbvContext#awaitAsyncEvent} creates it.
 */
public final class IbvAsyncEvent implements AutoCloseable {
  /** Asynchronous events (ibv_get_async_event(3)). */
  public enum Type implements CConstant {
    CQ_ERR,
    QP_FATAL,
    QP_REQ_ERR,
    QP_ACCESS_ERR,
    COMM_EST,
    SQ_DRAINED,
    PATH_MIG,
    PATH_MIG_ERR,
    DEVICE_FATAL,
    PORT_ACTIVE,
    PORT_ERR,
    LID_CHANGE,
    PKEY_CHANGE,
    SM_CHANGE,
    SRQ_ERR,
    SRQ_LIMIT_REACHED,
    QP_LAST_WQE_REACHED,
    CLIENT_REREGISTER,
    GID_CHANGE,
    WQ_FATAL
  }

  /** A copy of the C structure. ibv_ack_async_event accepts the same contents at any address. */
  private final MemorySegment event;

  private boolean acknowledged;

  IbvAsyncEvent(MemorySegment event) {
    this.event = event;
  }

  public CValue<Type> type() {
    return new CValue<>(Type.class, IbvStructs.ASYNC_EVENT.getInt(event, "event_type"));
  }

  /** The event type in words (ibv_event_type_str(3)). */
  public String text() throws VerbsException {
    return LibIbverbs.EVENT_TYPE_STR.callForString(type().number());
  }

  /** The port, if the event concerns a port. */
  public int port() {
    return event.get(JAVA_INT, IbvStructs.ASYNC_EVENT.offset("element"));
  }

  /** True if the event concerns this CQ, QP or SRQ. */
  public boolean isAbout(NativeObject object) throws VerbsException {
    return event.get(JAVA_LONG, IbvStructs.ASYNC_EVENT.offset("element"))
        == object.pointer().address();
  }

  /** Acknowledges the event (ibv_ack_async_event(3)). Idempotent. */
  @Override
  public synchronized void close() throws VerbsException {
    if (!acknowledged) {
      acknowledged = true;
      LibIbverbs.ACK_ASYNC_EVENT.invoke(event);
    }
  }
}
