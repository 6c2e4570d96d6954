package dev.sluice.rdma.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CConstant;
import dev.sluice.rdma.verbs.ffi.CString;
import java.lang.foreign.MemorySegment;

/**
 * Something that happened to an id: {@code struct rdma_cm_event} (rdma_get_cm_event(3)). The
 * receiver closes it, which acknowledges it; its values can be read afterwards all the same. Ids
 * acknowledge what is left when they are closed, since destroying them waits for it.
 */
public final class RdmaCmEvent implements AutoCloseable {
  private final MemorySegment pointer;
  private final RdmaCmId id;
  private final RdmaCmId owner;
  private final MemorySegment struct;
  private final byte[] privateData;
  private boolean acknowledged;

  /**
   * @param id whose event it is; the new one of a CONNECT_REQUEST
   * @param owner the id that cannot be destroyed before the event is acknowledged: the listening
   *     one of a CONNECT_REQUEST
   */
  @SuppressWarnings("restricted")
  RdmaCmEvent(MemorySegment pointer, RdmaCmId id, RdmaCmId owner) {
    this.pointer = pointer;
    this.id = id;
    this.owner = owner;
    MemorySegment event = RdmaCmStructs.CM_EVENT.at(pointer);
    long words = RdmaCmStructs.CM_EVENT.size() / Long.BYTES;
    struct = MemorySegment.ofArray(new long[(int) words]).copyFrom(event);
    MemorySegment param = RdmaCmStructs.CM_EVENT.part(event, "param.ud");
    int length = RdmaCmStructs.UD_PARAM.getInt(param, "private_data_len");
    privateData =
        RdmaCmStructs.UD_PARAM
            .getPointer(param, "private_data")
            .reinterpret(length)
            .toArray(JAVA_BYTE);
  }

  public RdmaCmEventType type() {
    return CConstant.of(RdmaCmEventType.class, RdmaCmStructs.CM_EVENT.getInt(struct, "event"));
  }

  /** The event in words (rdma_event_str(3)). */
  public String text() throws VerbsException {
    return CString.read(LibRdmacm.EVENT_STR.callForPointer(type().value()));
  }

  /**
   * 0 for what went well; an error number below 0, or the transport's reason of a REJECTED, such as
   * 8 where nobody listens and 28 where the peer's application refused.
   */
  public int status() {
    return RdmaCmStructs.CM_EVENT.getInt(struct, "status");
  }

  /** Whose event it is; the connection's new id of a CONNECT_REQUEST. */
  public RdmaCmId id() {
    return id;
  }

  /** The listening id of a CONNECT_REQUEST; otherwise the same as {@link #id}. */
  public RdmaCmId listenId() {
    return owner;
  }

  /** Bytes from the peer's application, as the transport pads them; empty where it sends none. */
  public byte[] privateData() {
    return privateData.clone();
  }

  /** Of an id for connections. */
  public RdmaConnParam connParam() {
    return RdmaConnParam.read(
        RdmaCmStructs.CM_EVENT_CONN.part(struct, "param.conn"), privateData());
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
