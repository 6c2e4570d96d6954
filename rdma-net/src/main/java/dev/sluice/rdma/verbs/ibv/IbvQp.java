package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.PostException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CConstant;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A queue pair: {@code struct ibv_qp} (ibv_create_qp(3)). */
public final class IbvQp extends NativeObject {
  private final MemorySegment struct;
  private final long address;
  private final IbvOps ops;
  private final IbvQpCap cap;
  private final IbvContext context;
  private final Destroyer destroyer;

  /** Destroys a queue pair. */
  @FunctionalInterface
  public interface Destroyer {
    void destroy(MemorySegment qp) throws VerbsException;
  }

  IbvQp(IbvPd pd, MemorySegment pointer, IbvQpCap cap, Destroyer destroyer) {
    super("queue pair", pd, pointer);
    this.context = pd.context();
    this.ops = context.ops();
    this.cap = cap;
    this.destroyer = destroyer;
    struct = IbvStructs.QP.at(pointer);
    address = pointer.address();
  }

  /** 24 bits. */
  public int qpNum() {
    return IbvStructs.QP.getInt(struct, "qp_num");
  }

  public IbvQpType type() {
    return CConstant.of(IbvQpType.class, IbvStructs.QP.getInt(struct, "qp_type"));
  }

  /** What the device gave, which may be more than was asked for. */
  public IbvQpCap cap() {
    return cap;
  }

  /**
   * Changes the state or other attributes (ibv_modify_qp(3)).
   *
   * @throws VerbsException EINVAL for a transition or a set of attributes that is not allowed
   */
  public void modify(IbvQpAttr attr) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      LibIbverbs.MODIFY_QP.call(pointer(), attr.write(arena), attr.mask());
    }
  }

  /**
   * Asks the device for attributes (ibv_query_qp(3)).
   *
   * @param mask of {@link IbvQpAttrMask}; a device may fill in more
   */
  public IbvQpAttr query(int mask) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvStructs.QP_ATTR.allocate(arena);
      MemorySegment initAttr = IbvStructs.QP_INIT_ATTR.allocate(arena);
      LibIbverbs.QUERY_QP.call(pointer(), attr, mask, initAttr);
      return IbvQpAttr.read(attr, mask);
    }
  }

  /** The state, from the device. */
  public IbvQpState queryState() throws VerbsException {
    return query(IbvQpAttrMask.STATE).state();
  }

  /**
   * Posts send requests (ibv_post_send(3)). Any thread; allocates nothing.
   *
   * @throws PostException EINVAL in a state or for a request that does not allow it, ENOMEM when
   *     the queue is full; those before the bad one are posted
   */
  public void postSend(IbvSendWrList requests) throws PostException {
    if (requests.isEmpty()) {
      return;
    }
    int error = ops.postSend(address, requests.first(), requests.bad());
    if (error != 0) {
      throw requests.refused("ibv_post_send", error);
    }
  }

  /** Posts receives (ibv_post_recv(3)); otherwise as {@link #postSend}. */
  public void postRecv(IbvRecvWrList requests) throws PostException {
    if (requests.isEmpty()) {
      return;
    }
    int error = ops.postRecv(address, requests.first(), requests.bad());
    if (error != 0) {
      throw requests.refused("ibv_post_recv", error);
    }
  }

  /**
   * Posts a bind of a type 1 memory window (ibv_bind_mw(3)), which gets a new rkey.
   *
   * @param mr also to unbind: some drivers read it without a look at the length
   * @param length bytes; 0 unbinds
   * @param access of {@link IbvAccess}
   * @throws VerbsException EINVAL for a type 2 window, or without a region; EPERM when window and
   *     region are of different domains
   */
  public void bindMw(
      IbvMw mw, long wrId, int sendFlags, IbvMr mr, long addr, long length, int access)
      throws VerbsException {
    if (mw.type() != IbvMwType.TYPE_1) {
      throw notBound(mw, VerbsException.EINVAL, "only type 1 windows are bound so");
    }
    if (mr == null) {
      throw notBound(mw, VerbsException.EINVAL, "there is no region, which unbinding needs too");
    }
    if (!mr.sharesPdWith(mw)) {
      throw notBound(mw, VerbsException.EPERM, "the region is of another protection domain");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bind = IbvStructs.MW_BIND.allocate(arena);
      IbvStructs.MW_BIND.set(bind, "wr_id", wrId);
      IbvStructs.MW_BIND.set(bind, "send_flags", sendFlags);
      MemorySegment info = IbvStructs.MW_BIND.part(bind, "bind_info");
      IbvStructs.MW_BIND_INFO.set(info, "mr", mr.pointer());
      IbvStructs.MW_BIND_INFO.set(info, "addr", addr);
      IbvStructs.MW_BIND_INFO.set(info, "length", length);
      IbvStructs.MW_BIND_INFO.set(info, "mw_access_flags", access);
      context.extendedOps().bindMw().call(pointer(), mw.pointer(), bind);
    }
  }

  private static VerbsException notBound(IbvMw mw, int errno, String reason) {
    return new VerbsException("ibv_bind_mw(" + mw + ")", errno, reason);
  }

  /** Joins a multicast group with a UD queue pair (ibv_attach_mcast(3)). */
  public void attachMulticast(Gid group, int lid) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      LibIbverbs.ATTACH_MCAST.call(pointer(), gid(arena, group), (short) lid);
    }
  }

  /** Leaves a multicast group (ibv_attach_mcast(3)). */
  public void detachMulticast(Gid group, int lid) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      LibIbverbs.DETACH_MCAST.call(pointer(), gid(arena, group), (short) lid);
    }
  }

  private static MemorySegment gid(Arena arena, Gid gid) {
    MemorySegment union = IbvStructs.GID.allocate(arena);
    IbvGidEntry.write(gid, union);
    return union;
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    destroyer.destroy(pointer);
  }
}
