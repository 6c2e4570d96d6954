// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.rdma.transfer.PeerAddress;

/**
 * Server of an executor's map outputs, and the provider by which its memory can be READ.
 *
 * @param executorId executor that wrote the map outputs
 * @param peer the process that serves them, with its address: the executor, or its node daemon
 * @param provider provider of that process's device; only executors with the same one READ from it
 */
public record ExecutorEndpoint(String executorId, PeerAddress peer, String provider) {
  /** Creates the endpoint of an executor that serves its own map outputs. */
  public ExecutorEndpoint(PeerAddress peer, String provider) {
    this(peer.id(), peer, provider);
  }

  /** Returns true if the map outputs are still served after the executor is lost. */
  public boolean outlivesExecutor() {
    return !peer.id().equals(executorId);
  }
}
