// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpEx;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A protection domain of a {@link VerbsDevice}, which creates it. Any thread; closed by its user or
 * its device.
 */
final class VerbsProtectionDomain extends VerbsChild implements ProtectionDomain {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsProtectionDomain.class);

  /** Smallest size that no device refuses; nothing is posted to the receive queue. */
  private static final int NO_RECEIVES = 1;

  private final IbvPd domain;
  private boolean closed;

  VerbsProtectionDomain(VerbsDevice device, IbvPd domain) {
    super(device, "protection domain");
    this.domain = domain;
  }

  @Override
  public VerbsDevice device() {
    return owner();
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException {
    String operation = "ibv_reg_mr(length=" + memory.byteSize() + ", access=" + access + ")";
    String problem = problem(memory, access);
    if (problem != null) {
      throw new VerbsException(operation, VerbsException.EINVAL, problem);
    }
    try {
      return owner().adopt(new VerbsMemoryRegion(this, domain.regMr(memory, ibvAccess(access))));
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.ENOMEM) {
        throw new VerbsException(
            operation,
            e.errno(),
            "the limit (%s) or the device allows no more: %s"
                .formatted(LockedMemory.current(), LockedMemory.REMEDY));
      }
      throw e;
    }
  }

  /**
   * Adds RELAXED_ORDERING, which some processors need for more than 100 Gb/s. A device that does
   * not support it ignores the flag. It is safe because nothing depends on the order of accesses to
   * a region. A thread looks at the target of a READ only after its completion, which the device
   * writes after all data. Peers only READ a source: the device writes nothing there, and this
   * process has written the bytes before it tells a peer where they are.
   */
  private static int ibvAccess(Set<AccessFlag> access) {
    return AccessFlag.bits(access) | IbvMr.Access.RELAXED_ORDERING;
  }

  /**
   * Checks the properties of Java's memory that libibverbs cannot know; the kernel checks the rest.
   */
  private @Nullable String problem(MemorySegment memory, Set<AccessFlag> access) {
    if (!memory.isNative()) {
      return "memory on the heap cannot be registered";
    }
    if (memory.byteSize() == 0) {
      return "a memory region must have at least 1 byte";
    }
    if (access.contains(AccessFlag.LOCAL_WRITE) && memory.isReadOnly()) {
      return "read-only memory cannot be registered for writing";
    }
    if (!memory.isAccessibleBy(owner().anotherThread())) {
      return "memory of a confined arena cannot be registered";
    }
    return null;
  }

  @Override
  public QueuePair createQueuePair(CompletionQueue completions, int depth) throws VerbsException {
    VerbsCompletionQueue queue = owner().own(completions);
    owner().requirePort("ibv_create_qp(" + depth + ")");
    int maxDepth = owner().attributes().maxQueuePairWr();
    if (depth < 0 || depth > maxDepth) {
      throw new VerbsException(
          "ibv_create_qp(" + depth + ")",
          VerbsException.EINVAL,
          "the depth must be 0 to " + maxDepth + " work requests");
    }
    IbvQpCap asked = new IbvQpCap(depth, NO_RECEIVES, 1, 1, 0);
    IbvQp queuePair = create(IbvQpInitAttr.of(IbvQp.Type.RC, queue.ibv(), asked));
    try {
      queue.add(queuePair.qpNum(), queuePair);
      return owner().adopt(new VerbsQueuePair(this, queuePair, queue));
    } catch (VerbsException | RuntimeException | Error e) {
      queuePair.close();
      throw e;
    }
  }

  /**
   * Asks for READs alone. A driver that sizes its send queues by operation, such as mlx5, then
   * needs 64 bytes per request, instead of 256 bytes for all operations.
   */
  private IbvQp create(IbvQpInitAttr attr) throws VerbsException {
    try {
      return domain.createQpEx(IbvQpInitAttrEx.of(attr, IbvQpEx.SendOps.RDMA_READ));
    } catch (VerbsException e) {
      if (e.errno() != VerbsException.EOPNOTSUPP && e.errno() != VerbsException.ENOSYS) {
        throw e;
      }
      return domain.createQp(attr);
    }
  }

  @Override
  public void close() {
    owner()
        .closeChildren(
            child ->
                child instanceof VerbsQueuePair queuePair && queuePair.domain() == this
                    || child instanceof VerbsMemoryRegion region && region.domain() == this);
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    try {
      domain.close();
    } catch (VerbsException e) {
      LOG.warn("Closing {} failed", this, e);
    }
    closed();
  }

  @Override
  public String toString() {
    return "PD of " + owner();
  }
}
