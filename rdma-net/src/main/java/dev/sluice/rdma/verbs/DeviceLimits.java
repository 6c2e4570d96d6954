// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceAttr;

/** Asks a device for its limits, once when a {@link VerbsDevice} is opened. */
record DeviceLimits(IbvContext context, int port) {
  /** Maximum of a queue pair's 8-bit attribute. */
  private static final int MAX_RD_ATOMIC = 255;

  /** RXE_VENDOR_ID of the kernel, which is no IEEE organisation. */
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
   * Maximum number of retries of a request. The kernel's soft-RoCE device takes 7 as infinite, and
   * would never notice a dead peer.
   */
  int maxRetryCount() throws VerbsException {
    return context.queryDevice().vendorId() == SOFT_ROCE_VENDOR ? 6 : 7;
  }
}
