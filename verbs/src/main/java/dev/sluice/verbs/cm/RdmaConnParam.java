// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.function.Consumer;

/**
 * Parameters that the two sides of a connection negotiate: {@code struct rdma_conn_param}
 * (rdma_connect(3), rdma_accept(3)). A program passes its own to {@link RdmaCmId#connect} or {@link
 * RdmaCmId#accept}, and gets those of the peer from {@link RdmaCmEvent#connParam}. Immutable but
 * for the array, which is not copied; any thread. A new component needs a field of the {@link
 * Builder}, and a line in {@code write} and {@code read}.
 *
 * @param privateData bytes for the peer's application; the transport may append zeros
 * @param responderResources READs and atomics of the peer served at a time, or {@link
 *     #MAX_RESP_RES}
 * @param initiatorDepth local READs and atomics in flight at a time, or {@link #MAX_INIT_DEPTH}
 * @param flowControl true for hardware flow control
 * @param retryCount retransmissions without an acknowledgement, 0 to 7; the active side decides
 * @param rnrRetryCount number of times that the peer retries without a receive here; 7 is infinite
 * @param srq true if receives come from a shared receive queue; only without an own queue pair
 * @param qpNum only without a queue pair of the id's own
 */
public record RdmaConnParam(
    byte[] privateData,
    int responderResources,
    int initiatorDepth,
    boolean flowControl,
    int retryCount,
    int rnrRetryCount,
    boolean srq,
    int qpNum) {

  /** Requests as many responder resources as the device has. */
  public static final int MAX_RESP_RES = 0xff;

  /** Requests as great an initiator depth as the device has. */
  public static final int MAX_INIT_DEPTH = 0xff;

  /** Defaults of librdmacm. */
  public static final RdmaConnParam DEFAULT = new Builder().build();

  /** Returns a copy of these parameters with the named components changed. */
  public RdmaConnParam with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /** Returns these parameters as a {@code struct rdma_conn_param}. */
  MemorySegment write(SegmentAllocator allocator, String operation) throws VerbsException {
    MemorySegment struct = RdmaCmStructs.CONN_PARAM.allocate(allocator);
    RdmaCmStructs.CONN_PARAM.set(struct, "private_data", bytes(privateData, allocator));
    set(struct, "private_data_len", privateData.length, operation);
    set(struct, "responder_resources", responderResources, operation);
    set(struct, "initiator_depth", initiatorDepth, operation);
    set(struct, "flow_control", flowControl ? 1 : 0, operation);
    set(struct, "retry_count", retryCount, operation);
    set(struct, "rnr_retry_count", rnrRetryCount, operation);
    set(struct, "srq", srq ? 1 : 0, operation);
    RdmaCmStructs.CONN_PARAM.set(struct, "qp_num", qpNum);
    return struct;
  }

  static MemorySegment bytes(byte[] data, SegmentAllocator allocator) {
    return allocator.allocate(Math.max(1, data.length)).copyFrom(MemorySegment.ofArray(data));
  }

  private static void set(MemorySegment struct, String member, int value, String operation)
      throws VerbsException {
    if (value < 0 || value > 0xff) {
      throw VerbsException.invalid(operation, member + " is " + value + ", but must be 0 to 255");
    }
    RdmaCmStructs.CONN_PARAM.set(struct, member, value);
  }

  /** Reads a {@code struct rdma_conn_param}. */
  static RdmaConnParam read(MemorySegment struct, byte[] privateData) {
    return DEFAULT.with(
        p -> {
          p.privateData = privateData;
          p.responderResources = RdmaCmStructs.CONN_PARAM.getInt(struct, "responder_resources");
          p.initiatorDepth = RdmaCmStructs.CONN_PARAM.getInt(struct, "initiator_depth");
          p.flowControl = RdmaCmStructs.CONN_PARAM.getInt(struct, "flow_control") != 0;
          p.retryCount = RdmaCmStructs.CONN_PARAM.getInt(struct, "retry_count");
          p.rnrRetryCount = RdmaCmStructs.CONN_PARAM.getInt(struct, "rnr_retry_count");
          p.srq = RdmaCmStructs.CONN_PARAM.getInt(struct, "srq") != 0;
          p.qpNum = RdmaCmStructs.CONN_PARAM.getInt(struct, "qp_num");
        });
  }

  /** Mutable components, under the names of the record's components. */
  public static final class Builder {
    public byte[] privateData = new byte[0];
    public int responderResources = MAX_RESP_RES;
    public int initiatorDepth = MAX_INIT_DEPTH;
    public boolean flowControl;
    public int retryCount = 7;
    public int rnrRetryCount = 7;
    public boolean srq;
    public int qpNum;

    private Builder() {}

    private Builder(RdmaConnParam from) {
      privateData = from.privateData;
      responderResources = from.responderResources;
      initiatorDepth = from.initiatorDepth;
      flowControl = from.flowControl;
      retryCount = from.retryCount;
      rnrRetryCount = from.rnrRetryCount;
      srq = from.srq;
      qpNum = from.qpNum;
    }

    private RdmaConnParam build() {
      return new RdmaConnParam(
          privateData,
          responderResources,
          initiatorDepth,
          flowControl,
          retryCount,
          rnrRetryCount,
          srq,
          qpNum);
    }
  }
}
