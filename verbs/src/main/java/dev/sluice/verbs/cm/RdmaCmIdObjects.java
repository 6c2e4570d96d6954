// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.util.Objects.requireNonNull;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpAttr;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvSrq;
import dev.sluice.verbs.ibv.IbvSrqInitAttrEx;
import dev.sluice.verbs.ibv.IbvStructs;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The part of an id that holds the objects of its device: context, protection domains, queue pair,
 * shared receive queue and completion queues (rdma_create_qp(3)). The id owns the objects that it
 * created, and closes them, the queue pair first. Methods that create or return them lock the id.
 */
abstract sealed class RdmaCmIdObjects extends NativeObject permits RdmaCmIdMulticast {
  private @Nullable IbvContext context;
  private @Nullable IbvPd defaultPd;
  private @Nullable IbvPd pd;
  private @Nullable IbvQp qp;
  private @Nullable IbvSrq srq;
  private @Nullable IbvSrq qpSrq;
  private final AtomicReference<@Nullable Queue> sendQueue = new AtomicReference<>();
  private final AtomicReference<@Nullable Queue> recvQueue = new AtomicReference<>();

  /** Queue of the id's own shared receive queue of type XRC; null if the caller supplied it. */
  private final AtomicReference<@Nullable Queue> srqQueue = new AtomicReference<>();

  /** A completion queue with the channel on which it announces completions. */
  record Queue(IbvCq cq, IbvCompChannel channel) {}

  /** Creates a queue pair in C from extended attributes, which begin with the other attributes. */
  private interface Creation {
    void create(MemorySegment pd, MemorySegment init) throws VerbsException;
  }

  RdmaCmIdObjects(@Nullable NativeObject parent, MemorySegment pointer, Destroyer destroyer) {
    super("cm id", parent, RdmaCmStructs.CM_ID.at(pointer), destroyer, 0);
  }

  /**
   * Returns the id's device, as librdmacm opened it. Objects created in it belong to the id.
   *
   * @throws VerbsException EINVAL while the id is bound to no device
   */
  public synchronized IbvContext context() throws VerbsException {
    MemorySegment verbs = RdmaCmStructs.CM_ID.getPointer(pointer(), "verbs");
    if (context == null) {
      if (verbs.address() == 0) {
        throw VerbsException.invalid("device of " + this, "it is not bound to a device");
      }
      context = IbvContext.borrowed(verbs);
      // Read the default domain now: librdmacm overwrites the member when it creates a queue pair.
      defaultPd = context.borrowedPd(RdmaCmStructs.CM_ID.getPointer(struct(), "pd"));
    }
    return context;
  }

  /** Returns the protection domain that all ids of the device share by default. */
  public synchronized IbvPd defaultPd() throws VerbsException {
    context();
    return requireNonNull(defaultPd);
  }

  /** Returns the protection domain of the id's queue pair, else the default domain. */
  public synchronized IbvPd pd() throws VerbsException {
    pointer();
    return pd == null ? defaultPd() : pd;
  }

  /** The id's own queue pair; null if it has none. */
  public synchronized @Nullable IbvQp qp() {
    struct();
    return qp == null || qp.isClosed() ? null : qp;
  }

  /** The id's own shared receive queue; null if it has none. */
  public synchronized @Nullable IbvSrq srq() {
    struct();
    return srq == null || srq.isClosed() ? null : srq;
  }

  /** Returns the shared receive queue of the id's queue pair, else the id's own; null for none. */
  synchronized @Nullable IbvSrq receivingSrq() {
    return qp() == null ? srq() : qpSrq;
  }

  /** Completion queue of SENDs, READs and WRITEs; null if the caller supplied it. */
  @Nullable Queue sendQueue() {
    return sendQueue.get();
  }

  /** Completion queue of receives; null if the caller supplied it. */
  @Nullable Queue recvQueue() {
    Queue ofQp = recvQueue.get();
    return ofQp == null ? srqQueue.get() : ofQp;
  }

  /**
   * Creates the id's own queue pair (rdma_create_qp(3)). librdmacm changes its state as the
   * connection proceeds. Closing it does the work of rdma_destroy_qp(3). It stays open and throws
   * where the device refuses, for example with EBUSY.
   *
   * @param domain domain of the id's device as librdmacm opened it; null for the default domain
   * @param attr attributes of the queue pair. The id replaces a null completion queue by a queue of
   *     its own with a channel, and closes it with the queue pair. A queue that it created for its
   *     shared receive queue takes the receives instead. It replaces a null shared receive queue by
   *     its own, if it has one
   * @throws VerbsException EINVAL if the id has a queue pair
   */
  public synchronized IbvQp createQp(@Nullable IbvPd domain, IbvQpInitAttr attr)
      throws VerbsException {
    return createQp(
        domain,
        IbvQpInitAttrEx.of(attr, 0),
        (used, init) -> LibRdmacm.CREATE_QP.call(pointer(), used, init));
  }

  /**
   * Creates the queue pair from extended attributes, as {@link #createQp} (rdma_create_qp_ex(3)).
   *
   * @throws VerbsException EOPNOTSUPP if the device's driver lacks the function
   */
  public synchronized IbvQp createQpEx(@Nullable IbvPd domain, IbvQpInitAttrEx attr)
      throws VerbsException {
    return createQp(domain, attr, (used, init) -> LibRdmacm.CREATE_QP_EX.call(pointer(), init));
  }

  private IbvQp createQp(@Nullable IbvPd domain, IbvQpInitAttrEx attr, Creation creation)
      throws VerbsException {
    pointer();
    if (qp() != null) {
      throw failure("rdma_create_qp", VerbsException.EINVAL, "it has a queue pair already");
    }
    IbvPd used = domain == null ? defaultPd() : domain;
    try {
      IbvQpInitAttrEx completed = attr.with(complete(attr.attr()));
      MemorySegment init = completed.write(HEAP, used.pointer());
      creation.create(used.pointer(), init);
      pd = used;
      qpSrq = completed.attr().srq();
      MemorySegment created = RdmaCmStructs.CM_ID.getPointer(struct(), "qp");
      qp = used.adoptQp(created, IbvQpCap.ofInitAttr(init), attr.sendOps(), this::destroyQp);
      return qp;
    } catch (VerbsException e) {
      closeQueues();
      throw e;
    }
  }

  /**
   * Does the work of rdma_destroy_qp(3). That function cannot be called: it ignores the failure of
   * ibv_destroy_qp(3), and forgets a queue pair that the device keeps.
   */
  private void destroyQp(MemorySegment pointer) throws VerbsException {
    leaveAllGroups(); // otherwise the device refuses
    LibRdmacm.IBV_DESTROY_QP.call(pointer);
    RdmaCmStructs.CM_ID.set(struct(), "qp", MemorySegment.NULL);
    closeQueues(); // the next queue pair may need larger queues
  }

  private void closeQueues() {
    close(sendQueue);
    close(recvQueue);
  }

  /**
   * Closes a completion queue, if there is one. Takes no lock of this id: it runs under the queue
   * pair's lock, and closing the id takes that one second. The context closes a queue that the
   * device refuses to destroy now.
   */
  private static void close(AtomicReference<@Nullable Queue> reference) {
    Queue queue = reference.getAndSet(null);
    try {
      if (queue != null) {
        queue.cq.close();
        queue.channel.close();
      }
    } catch (VerbsException e) {
      // The object that used the queue is destroyed nevertheless.
    }
  }

  private IbvQpInitAttr complete(IbvQpInitAttr attr) throws VerbsException {
    IbvSrq shared = attr.srq() == null ? srq() : attr.srq();
    if (attr.sendCq() == null) {
      sendQueue.set(queue(attr.cap().maxSendWr()));
    }
    if (attr.recvCq() == null && srqQueue.get() == null) {
      int receives = shared == null ? attr.cap().maxRecvWr() : shared.query().maxWr();
      recvQueue.set(queue(receives));
    }
    return new IbvQpInitAttr(
        attr.type(),
        attr.sendCq() == null ? requireNonNull(sendQueue()).cq() : attr.sendCq(),
        attr.recvCq() == null ? requireNonNull(recvQueue()).cq() : attr.recvCq(),
        shared,
        attr.cap(),
        attr.signalAll());
  }

  private Queue queue(int entries) throws VerbsException {
    IbvCompChannel announcing = context().createCompChannel();
    return new Queue(context().createCq(Math.max(1, entries), announcing, 0), announcing);
  }

  /**
   * Creates the id's own shared receive queue (rdma_create_srq(3)). Closing it does the work of
   * rdma_destroy_srq(3), but throws EBUSY while a queue pair uses it. {@link IbvPd#createSrq} has
   * the other parameters.
   *
   * @param domain null for the default domain
   * @throws VerbsException EINVAL where the id has a shared receive queue
   */
  public synchronized IbvSrq createSrq(@Nullable IbvPd domain, int maxWr, int maxSge)
      throws VerbsException {
    requireNoSrq();
    IbvPd used = domain == null ? defaultPd() : domain;
    MemorySegment init = IbvStructs.SRQ_INIT_ATTR.allocate(HEAP);
    IbvStructs.SRQ_INIT_ATTR.set(init, "attr.max_wr", maxWr);
    IbvStructs.SRQ_INIT_ATTR.set(init, "attr.max_sge", maxSge);
    LibRdmacm.CREATE_SRQ.call(pointer(), used.pointer(), init);
    return adoptSrq(used);
  }

  /**
   * Creates a shared receive queue of any type, as {@link #createSrq} (rdma_create_srq_ex(3)).
   *
   * @param attr attributes of the queue. For type XRC, the id replaces a null completion queue by a
   *     queue of its own with a channel, and closes it with the shared receive queue
   * @throws VerbsException EOPNOTSUPP if the device or its driver lacks the type
   */
  public synchronized IbvSrq createSrqEx(@Nullable IbvPd domain, IbvSrqInitAttrEx attr)
      throws VerbsException {
    requireNoSrq();
    IbvPd used = domain == null ? defaultPd() : domain;
    try {
      LibRdmacm.CREATE_SRQ_EX.call(pointer(), complete(attr).write(HEAP, used));
    } catch (VerbsException e) {
      close(srqQueue);
      throw e;
    }
    return adoptSrq(used);
  }

  /** Supplies the completion queue: one that librdmacm creates would be out of Java's reach. */
  private IbvSrqInitAttrEx complete(IbvSrqInitAttrEx attr) throws VerbsException {
    if (attr.type() != IbvSrq.Type.XRC || attr.cq() != null) {
      return attr;
    }
    Queue queue = queue(attr.maxWr());
    srqQueue.set(queue);
    return IbvSrqInitAttrEx.xrc(attr.maxWr(), attr.maxSge(), attr.xrcd(), queue.cq());
  }

  /** librdmacm keeps one queue, and would destroy it twice. */
  private void requireNoSrq() throws VerbsException {
    pointer();
    if (srq() != null) {
      throw failure(
          "rdma_create_srq", VerbsException.EINVAL, "it has a shared receive queue already");
    }
  }

  private IbvSrq adoptSrq(IbvPd domain) throws VerbsException {
    srq = domain.adoptSrq(RdmaCmStructs.CM_ID.getPointer(struct(), "srq"), this::destroySrq);
    return srq;
  }

  /** Does the work of rdma_destroy_srq(3), as {@link #destroyQp}. */
  private void destroySrq(MemorySegment pointer) throws VerbsException {
    LibRdmacm.IBV_DESTROY_SRQ.call(pointer);
    RdmaCmStructs.CM_ID.set(struct(), "srq", MemorySegment.NULL);
    close(srqQueue);
  }

  /** Attributes that bring a queue pair outside of the id into a state (rdma_init_qp_attr(3)). */
  public IbvQpAttr initQpAttr(IbvQp.State state) throws VerbsException {
    MemorySegment attr = IbvStructs.QP_ATTR.allocate(HEAP);
    IbvStructs.QP_ATTR.set(attr, "qp_state", state.value());
    MemorySegment mask = HEAP.allocate(JAVA_INT);
    LibRdmacm.INIT_QP_ATTR.call(pointer(), attr, mask);
    return IbvQpAttr.read(attr, mask.get(JAVA_INT, 0));
  }

  /** Leaves the multicast groups that the queue pair is in. */
  abstract void leaveAllGroups() throws VerbsException;

  /** Closes the objects, beginning with the queue pair, which uses the others. */
  void closeObjects() throws VerbsException {
    if (qp != null) {
      qp.close();
    }
    if (srq != null) {
      srq.close();
    }
    if (context != null) {
      context.close();
    }
  }
}
