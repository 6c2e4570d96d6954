// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;

import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Attributes of a queue pair: {@code struct ibv_qp_attr} with the mask of attributes that were set.
 * ibv_modify_qp(3) has the table of attributes that each transition requires and allows. {@link
 * #get} reads numbers by their C names. Not thread-safe; needs no close.
 */
public final class IbvQpAttr {
  /** Attributes that a state transition sets (ibv_modify_qp(3)). Bits, to be combined by |. */
  public interface Mask {
    int STATE = 1;
    int CUR_STATE = 1 << 1;
    int EN_SQD_ASYNC_NOTIFY = 1 << 2;
    int ACCESS_FLAGS = 1 << 3;
    int PKEY_INDEX = 1 << 4;
    int PORT = 1 << 5;
    int QKEY = 1 << 6;
    int AV = 1 << 7;
    int PATH_MTU = 1 << 8;
    int TIMEOUT = 1 << 9;
    int RETRY_CNT = 1 << 10;
    int RNR_RETRY = 1 << 11;
    int RQ_PSN = 1 << 12;
    int MAX_QP_RD_ATOMIC = 1 << 13;
    int ALT_PATH = 1 << 14;
    int MIN_RNR_TIMER = 1 << 15;
    int SQ_PSN = 1 << 16;
    int MAX_DEST_RD_ATOMIC = 1 << 17;
    int PATH_MIG_STATE = 1 << 18;
    int CAP = 1 << 19;
    int DEST_QPN = 1 << 20;
    int RATE_LIMIT = 1 << 25;
  }

  private static final CStruct LAYOUT = IbvStructs.QP_ATTR;

  private final MemorySegment struct;
  private int mask;

  public IbvQpAttr() {
    struct = LAYOUT.allocate(HEAP);
  }

  private IbvQpAttr(MemorySegment struct, int mask) {
    this.struct = LAYOUT.copy(struct);
    this.mask = mask;
  }

  /** Copies a structure that C filled in. The {@link Mask} has the valid attributes. */
  public static IbvQpAttr read(MemorySegment struct, int mask) {
    return new IbvQpAttr(struct, mask);
  }

  /** Returns these attributes as a {@code struct ibv_qp_attr}. */
  public MemorySegment write(SegmentAllocator allocator) {
    return LAYOUT.allocate(allocator).copyFrom(struct);
  }

  /** Mask of the attributes that were set, of {@link Mask}. */
  public int mask() {
    return mask;
  }

  /** The state to change to. */
  public IbvQpAttr state(IbvQp.State value) {
    return set("qp_state", value.value(), Mask.STATE);
  }

  public CValue<IbvQp.State> state() {
    return new CValue<>(IbvQp.State.class, get("qp_state"));
  }

  public IbvQpAttr pathMtu(IbvPortAttr.Mtu value) {
    return set("path_mtu", value.value(), Mask.PATH_MTU);
  }

  public CValue<IbvPortAttr.Mtu> pathMtu() {
    return new CValue<>(IbvPortAttr.Mtu.class, get("path_mtu"));
  }

  /** The state that the caller assumes the queue pair to be in. */
  public IbvQpAttr curState(IbvQp.State value) {
    return set("cur_qp_state", value.value(), Mask.CUR_STATE);
  }

  public CValue<IbvQp.State> curState() {
    return new CValue<>(IbvQp.State.class, get("cur_qp_state"));
  }

  public IbvQpAttr pathMigState(IbvQp.MigState value) {
    return set("path_mig_state", value.value(), Mask.PATH_MIG_STATE);
  }

  public CValue<IbvQp.MigState> pathMigState() {
    return new CValue<>(IbvQp.MigState.class, get("path_mig_state"));
  }

  /** Q_Key that arriving datagrams must have. */
  public IbvQpAttr qkey(int value) {
    return set("qkey", value, Mask.QKEY);
  }

  /** First packet sequence number to expect, 24 bits. */
  public IbvQpAttr rqPsn(int value) {
    return set("rq_psn", value, Mask.RQ_PSN);
  }

  /** First packet sequence number to send, 24 bits. */
  public IbvQpAttr sqPsn(int value) {
    return set("sq_psn", value, Mask.SQ_PSN);
  }

  /** The peer's queue pair number, 24 bits. */
  public IbvQpAttr destQpNum(int value) {
    return set("dest_qp_num", value, Mask.DEST_QPN);
  }

  /** Operations that the peer is allowed, of {@link IbvMr.Access}. */
  public IbvQpAttr accessFlags(int value) {
    return set("qp_access_flags", value, Mask.ACCESS_FLAGS);
  }

  public IbvQpAttr pkeyIndex(int value) {
    return set("pkey_index", value, Mask.PKEY_INDEX);
  }

  /** 1 requests an SQ_DRAINED event. */
  public IbvQpAttr enSqdAsyncNotify(int value) {
    return set("en_sqd_async_notify", value, Mask.EN_SQD_ASYNC_NOTIFY);
  }

  /** Maximum number of READs and atomics in flight as initiator. */
  public IbvQpAttr maxRdAtomic(int value) {
    return set("max_rd_atomic", value, Mask.MAX_QP_RD_ATOMIC);
  }

  /** Maximum number of READs and atomics served at a time. */
  public IbvQpAttr maxDestRdAtomic(int value) {
    return set("max_dest_rd_atomic", value, Mask.MAX_DEST_RD_ATOMIC);
  }

  /** Code of the minimum RNR timer, 0 to 31. */
  public IbvQpAttr minRnrTimer(int value) {
    return set("min_rnr_timer", value, Mask.MIN_RNR_TIMER);
  }

  /** Port number, from 1. */
  public IbvQpAttr port(int value) {
    return set("port_num", value, Mask.PORT);
  }

  /** Acknowledgement timeout: 4.096 us x 2^n; 0 is infinite. */
  public IbvQpAttr timeout(int value) {
    return set("timeout", value, Mask.TIMEOUT);
  }

  /** Number of retries, 0 to 7. */
  public IbvQpAttr retryCnt(int value) {
    return set("retry_cnt", value, Mask.RETRY_CNT);
  }

  /** Number of retries after RNR, 0 to 7; 7 is infinite. */
  public IbvQpAttr rnrRetry(int value) {
    return set("rnr_retry", value, Mask.RNR_RETRY);
  }

  /** Address vector of the peer. */
  public IbvQpAttr addressVector(IbvAhAttr address) {
    address.write(LAYOUT.part(struct, "ah_attr"));
    mask |= Mask.AV;
    return this;
  }

  public IbvAhAttr addressVector() {
    return IbvAhAttr.read(LAYOUT.part(struct, "ah_attr"));
  }

  /**
   * Alternate path for automatic path migration, with the alternate port. The timeout is 4.096 us x
   * 2^n; 0 is infinite.
   */
  public IbvQpAttr alternatePath(IbvAhAttr address, int pkeyIndex, int timeout) {
    address.write(LAYOUT.part(struct, "alt_ah_attr"));
    LAYOUT.set(struct, "alt_port_num", address.port());
    LAYOUT.set(struct, "alt_pkey_index", pkeyIndex);
    return set("alt_timeout", timeout, Mask.ALT_PATH);
  }

  public IbvAhAttr alternatePath() {
    return IbvAhAttr.read(LAYOUT.part(struct, "alt_ah_attr"));
  }

  /** Packet pacing in kb/s; 0 turns it off. */
  public IbvQpAttr rateLimit(int value) {
    return set("rate_limit", value, Mask.RATE_LIMIT);
  }

  /** Sizes of the queues, if the device can change them (RESIZE_MAX_WR). */
  public IbvQpAttr cap(IbvQpCap value) {
    value.write(LAYOUT.part(struct, "cap"));
    mask |= Mask.CAP;
    return this;
  }

  public IbvQpCap cap() {
    return IbvQpCap.read(LAYOUT.part(struct, "cap"));
  }

  /** Reads a number by its C name, such as {@code retry_cnt}. */
  public int get(String member) {
    return LAYOUT.getInt(struct, member);
  }

  private IbvQpAttr set(String member, int value, int bit) {
    LAYOUT.set(struct, member, value);
    mask |= bit;
    return this;
  }
}
