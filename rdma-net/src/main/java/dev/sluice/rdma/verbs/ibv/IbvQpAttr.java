package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;
import dev.sluice.rdma.verbs.ffi.CStruct;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Attributes of a queue pair: {@code struct ibv_qp_attr} with the mask of those that were set
 * (ibv_modify_qp(3) has the table of what each transition requires and allows). Numbers are read by
 * their names in C. Not thread-safe; nobody has to close it.
 */
public final class IbvQpAttr {
  private static final CStruct LAYOUT = IbvStructs.QP_ATTR;

  private final MemorySegment struct;
  private int mask;

  public IbvQpAttr() {
    struct = MemorySegment.ofArray(new long[(int) (LAYOUT.size() / Long.BYTES)]);
  }

  private IbvQpAttr(MemorySegment struct, int mask) {
    this.struct = IbvStructs.copy(struct);
    this.mask = mask;
  }

  /**
   * Takes over what C filled in.
   *
   * @param mask of {@link IbvQpAttrMask}
   */
  public static IbvQpAttr read(MemorySegment struct, int mask) {
    return new IbvQpAttr(struct, mask);
  }

  /** As {@code struct ibv_qp_attr}. */
  public MemorySegment write(SegmentAllocator allocator) {
    return LAYOUT.allocate(allocator).copyFrom(struct);
  }

  /** Which attributes were set, of {@link IbvQpAttrMask}. */
  public int mask() {
    return mask;
  }

  /** The next state. */
  public IbvQpAttr state(IbvQpState value) {
    return set("qp_state", value.value(), IbvQpAttrMask.STATE);
  }

  public IbvQpState state() {
    return CConstant.of(IbvQpState.class, get("qp_state"));
  }

  public IbvQpAttr pathMtu(IbvMtu value) {
    return set("path_mtu", value.value(), IbvQpAttrMask.PATH_MTU);
  }

  public IbvMtu pathMtu() {
    return CConstant.of(IbvMtu.class, get("path_mtu"));
  }

  /** Of datagrams that are accepted. */
  public IbvQpAttr qkey(int value) {
    return set("qkey", value, IbvQpAttrMask.QKEY);
  }

  /** First packet sequence number that is expected, 24 bits. */
  public IbvQpAttr rqPsn(int value) {
    return set("rq_psn", value, IbvQpAttrMask.RQ_PSN);
  }

  /** First packet sequence number that is sent, 24 bits. */
  public IbvQpAttr sqPsn(int value) {
    return set("sq_psn", value, IbvQpAttrMask.SQ_PSN);
  }

  /** 24 bits. */
  public IbvQpAttr destQpNum(int value) {
    return set("dest_qp_num", value, IbvQpAttrMask.DEST_QPN);
  }

  /** What the peer may do, of {@link IbvAccess}. */
  public IbvQpAttr accessFlags(int value) {
    return set("qp_access_flags", value, IbvQpAttrMask.ACCESS_FLAGS);
  }

  public IbvQpAttr pkeyIndex(int value) {
    return set("pkey_index", value, IbvQpAttrMask.PKEY_INDEX);
  }

  /** 1 for an SQ_DRAINED event. */
  public IbvQpAttr enSqdAsyncNotify(int value) {
    return set("en_sqd_async_notify", value, IbvQpAttrMask.EN_SQD_ASYNC_NOTIFY);
  }

  /** READs and atomics under way as initiator. */
  public IbvQpAttr maxRdAtomic(int value) {
    return set("max_rd_atomic", value, IbvQpAttrMask.MAX_QP_RD_ATOMIC);
  }

  /** READs and atomics served at a time. */
  public IbvQpAttr maxDestRdAtomic(int value) {
    return set("max_dest_rd_atomic", value, IbvQpAttrMask.MAX_DEST_RD_ATOMIC);
  }

  /** Code 0 to 31. */
  public IbvQpAttr minRnrTimer(int value) {
    return set("min_rnr_timer", value, IbvQpAttrMask.MIN_RNR_TIMER);
  }

  /** From 1. */
  public IbvQpAttr port(int value) {
    return set("port_num", value, IbvQpAttrMask.PORT);
  }

  /** 4.096 us x 2^n; 0 is for ever. */
  public IbvQpAttr timeout(int value) {
    return set("timeout", value, IbvQpAttrMask.TIMEOUT);
  }

  /** 0 to 7. */
  public IbvQpAttr retryCnt(int value) {
    return set("retry_cnt", value, IbvQpAttrMask.RETRY_CNT);
  }

  /** 0 to 7; 7 is for ever. */
  public IbvQpAttr rnrRetry(int value) {
    return set("rnr_retry", value, IbvQpAttrMask.RNR_RETRY);
  }

  /** The address vector of the peer. */
  public IbvQpAttr addressVector(IbvAhAttr address) {
    address.write(LAYOUT.part(struct, "ah_attr"));
    mask |= IbvQpAttrMask.AV;
    return this;
  }

  public IbvAhAttr addressVector() {
    return IbvAhAttr.read(LAYOUT.part(struct, "ah_attr"));
  }

  public IbvQpCap cap() {
    return IbvQpCap.read(LAYOUT.part(struct, "cap"));
  }

  /** A number by its name in C, such as {@code retry_cnt}. */
  public int get(String member) {
    return LAYOUT.getInt(struct, member);
  }

  private IbvQpAttr set(String member, int value, int bit) {
    LAYOUT.set(struct, member, value);
    mask |= bit;
    return this;
  }
}
