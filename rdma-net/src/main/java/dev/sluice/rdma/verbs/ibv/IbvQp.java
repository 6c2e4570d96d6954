package dev.sluice.rdma.verbs.ibv;

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
  private final Destroyer destroyer;

  /** Destroys a queue pair. */
  @FunctionalInterface
  public interface Destroyer {
    void destroy(MemorySegment qp) throws VerbsException;
  }

  IbvQp(IbvPd pd, MemorySegment pointer, IbvQpCap cap, Destroyer destroyer) {
    super("queue pair", pd, pointer);
    this.ops = pd.context().ops();
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

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    destroyer.destroy(pointer);
  }
}
