package dev.sluice.rdma.verbs;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDeviceAttr;

/** Asks a device for its limits. */
record DeviceLimits(IbvContext context, int port) {
  /** What a queue pair's attribute of 8 bits can hold. */
  private static final int MAX_RD_ATOMIC = 255;

  /** RXE_VENDOR_ID of the kernel: no IEEE organisation. */
  private static final int SOFT_ROCE_VENDOR = 0xFFFFFF;

  DeviceAttributes read() throws VerbsException {
    IbvDeviceAttr device = context.queryDevice();
    long maxMessageSize = context.queryPort(port).maxMsgSz();
    return DeviceAttributes.NONE.with(
        limits -> {
          limits.maxQueuePairs = device.maxQp();
          limits.maxQueuePairWr = device.maxQpWr();
          limits.maxCompletionQueueEntries = device.maxCqe();
          limits.maxQueuePairRdAtomic = Math.min(device.maxQpRdAtom(), MAX_RD_ATOMIC);
          limits.maxQueuePairInitRdAtomic = Math.min(device.maxQpInitRdAtom(), MAX_RD_ATOMIC);
          limits.maxMessageSize = maxMessageSize;
        });
  }

  /**
   * Times that a request may be repeated at most. The kernel's soft-RoCE device repeats for ever
   * what should be repeated seven times, and would never notice a dead peer.
   */
  int maxRetryCount() throws VerbsException {
    return context.queryDevice().vendorId() == SOFT_ROCE_VENDOR ? 6 : 7;
  }
}
