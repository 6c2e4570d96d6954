// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

/** Ways to connect queue pairs of verbs devices. */
public enum ConnectMode {
  /** By the parameters that peers exchange over their control channel. */
  CONTROL,
  /** By rdma_cm. The control channel only tells where to connect to. */
  CM
}
