package dev.sluice.rdma.verbs;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;
import dev.sluice.rdma.verbs.ibv.IbvPd;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvQpCap;
import dev.sluice.rdma.verbs.ibv.IbvQpInitAttr;
import dev.sluice.rdma.verbs.ibv.IbvQpType;

/** Asks a device for its limits. */
final class DeviceLimits {
  /** What a queue pair's attribute of 8 bits can hold. */
  private static final int MAX_RD_ATOMIC = 255;

  /** RXE_VENDOR_ID of the kernel: no IEEE organisation. */
  private static final int SOFT_ROCE_VENDOR = 0xFFFFFF;

  /** Sizes that are tried: what a device has at most, none will say. */
  private static final int[] INLINE_SIZES = {256, 128, 64, 32};

  private final IbvContext context;
  private final int port;

  DeviceLimits(IbvContext context, int port) {
    this.context = context;
    this.port = port;
  }

  DeviceAttributes read() throws VerbsException {
    IbvDeviceAttr device = context.queryDevice();
    long maxMessageSize = context.queryPort(port).maxMsgSz();
    int maxInlineData = maxInlineData();
    return DeviceAttributes.NONE.with(
        limits -> {
          limits.maxQueuePairs = device.maxQp();
          limits.maxQueuePairWr = device.maxQpWr();
          limits.maxSge = device.maxSge();
          limits.maxCompletionQueues = device.maxCq();
          limits.maxCompletionQueueEntries = device.maxCqe();
          limits.maxMemoryRegions = device.maxMr();
          limits.maxMemoryRegionSize = clampToSigned(device.maxMrSize());
          limits.maxProtectionDomains = device.maxPd();
          limits.maxQueuePairRdAtomic = Math.min(device.maxQpRdAtom(), MAX_RD_ATOMIC);
          limits.maxQueuePairInitRdAtomic = Math.min(device.maxQpInitRdAtom(), MAX_RD_ATOMIC);
          limits.maxMessageSize = maxMessageSize;
          limits.maxInlineData = maxInlineData;
        });
  }

  /**
   * Times that a request may be repeated at most. The kernel's soft-RoCE device repeats for ever
   * what should be repeated seven times, and would never notice a dead peer.
   */
  int maxRetryCount() throws VerbsException {
    return context.queryDevice().vendorId() == SOFT_ROCE_VENDOR ? 6 : 7;
  }

  private static long clampToSigned(long unsigned) {
    return unsigned < 0 ? Long.MAX_VALUE : unsigned;
  }

  private int maxInlineData() throws VerbsException {
    try (IbvPd domain = context.allocPd();
        IbvCq queue = context.createCq(1)) {
      for (int size : INLINE_SIZES) {
        if (hasInline(domain, queue, size)) {
          return size;
        }
      }
      return 0;
    }
  }

  private static boolean hasInline(IbvPd domain, IbvCq queue, int size) throws VerbsException {
    IbvQpCap capabilities = new IbvQpCap(1, 1, 1, 1, size);
    try (IbvQp queuePair = domain.createQp(IbvQpInitAttr.of(IbvQpType.RC, queue, capabilities))) {
      return queuePair.cap().maxInlineData() >= size;
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.EINVAL || e.errno() == VerbsException.ENOMEM) {
        return false; // libraries differ in which of the two a size beyond the limit gets
      }
      throw e;
    }
  }
}
