// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * An event of an id: {@code struct rdma_cm_event} (rdma_get_cm_event(3)). The receiver closes the
 * event, which acknowledges it; its values stay readable. Destroying an id waits for
 * acknowledgements, so closing an id acknowledges its remaining events. {@link RdmaEventChannel}
 * creates it on the thread that takes events; any thread may read and close it.
 */
public final class RdmaCmEvent implements AutoCloseable {
  /** Events of an id (rdma_get_cm_event(3)). */
  public enum Type implements CConstant {
    ADDR_RESOLVED,
    ADDR_ERROR,
    ROUTE_RESOLVED,
    ROUTE_ERROR,
    /** Request on a listening id; comes with the new id of the connection. */
    CONNECT_REQUEST,
    /** The peer accepted. Only on an active id without a queue pair of its own. */
    CONNECT_RESPONSE,
    CONNECT_ERROR,
    UNREACHABLE,
    REJECTED,
    ESTABLISHED,
    DISCONNECTED,
    DEVICE_REMOVAL,
    MULTICAST_JOIN,
    MULTICAST_ERROR,
    ADDR_CHANGE,
    TIMEWAIT_EXIT,
    ADDRINFO_RESOLVED,
    ADDRINFO_ERROR,
    /** Sent by this process itself, with {@link RdmaCmId#writeCmEvent}. */
    USER,
    INTERNAL
  }

  private final MemorySegment pointer;
  private final RdmaCmId id;
  private final RdmaCmId owner;
  private final MemorySegment struct;
  private final byte[] privateData;
  private boolean acknowledged;

  /**
   * Takes the id of the event and the owner that waits for its acknowledgement. For a
   * CONNECT_REQUEST, these are the new id and the listening id.
   *
   * @param acknowledged true for the event of a synchronous id, which librdmacm acknowledges
   */
  @SuppressWarnings("restricted")
  RdmaCmEvent(MemorySegment pointer, RdmaCmId id, RdmaCmId owner, boolean acknowledged) {
    this.pointer = pointer;
    this.id = id;
    this.owner = owner;
    this.acknowledged = acknowledged;
    MemorySegment event = RdmaCmStructs.CM_EVENT.at(pointer);
    struct = RdmaCmStructs.CM_EVENT.copy(event);
    boolean user = RdmaCmStructs.CM_EVENT.getInt(event, "event") == Type.USER.value();
    int length = user ? 0 : RdmaCmStructs.CM_EVENT.getInt(event, "param.ud.private_data_len");
    privateData =
        RdmaCmStructs.CM_EVENT
            .getPointer(event, "param.ud.private_data")
            .reinterpret(length)
            .toArray(JAVA_BYTE);
  }

  /** Event type; a plain number if the library is newer than {@link Type}. */
  public CValue<Type> type() {
    return new CValue<>(Type.class, RdmaCmStructs.CM_EVENT.getInt(struct, "event"));
  }

  /** The event type in words (rdma_event_str(3)). */
  public String text() throws VerbsException {
    return LibRdmacm.EVENT_STR.callForString(type().number());
  }

  /**
   * 0 on success, else a negative error number; a positive one for ADDRINFO_ERROR. For a REJECTED,
   * the transport's reason, such as 8 if no listener exists and 28 if the peer's application
   * refused.
   */
  public int status() {
    return RdmaCmStructs.CM_EVENT.getInt(struct, "status");
  }

  /** Id of the event; the connection's new id for a CONNECT_REQUEST. */
  public RdmaCmId id() {
    return id;
  }

  /** The listening id for a CONNECT_REQUEST; otherwise the same as {@link #id}. */
  public RdmaCmId listenId() {
    return owner;
  }

  /** Bytes from the peer's application, as the transport pads them; empty if it sends none. */
  public byte[] privateData() {
    return privateData.clone();
  }

  /** Connection parameters, for an id of connections. */
  public RdmaConnParam connParam() {
    return RdmaConnParam.read(RdmaCmStructs.CM_EVENT.part(struct, "param.conn"), privateData());
  }

  /** Datagram parameters, for an id of datagrams and for a MULTICAST_JOIN. */
  public RdmaUdParam udParam() {
    return RdmaUdParam.read(RdmaCmStructs.CM_EVENT.part(struct, "param.ud"), privateData());
  }

  /** Argument of a USER event, as given to {@link RdmaCmId#writeCmEvent}. */
  public long userArgument() {
    return RdmaCmStructs.CM_EVENT.getLong(struct, "param.arg");
  }

  /** Acknowledges the event (rdma_ack_cm_event(3)). Idempotent. */
  @Override
  public synchronized void close() throws VerbsException {
    if (!acknowledged) {
      acknowledged = true;
      owner.acknowledged(this);
      LibRdmacm.ACK_CM_EVENT.call(pointer);
    }
  }

  @Override
  public String toString() {
    return type() + " of " + id + ", status " + status();
  }
}
