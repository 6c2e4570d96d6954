// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.SendWorkRequest;

/**
 * A work request in a send queue, with its progress. {@link SoftQueuePair} makes it on the posting
 * thread, the {@link Initiator} keeps it until it completes. Guarded by the queue pair's lock.
 */
final class PendingSend {
  final SendWorkRequest request;

  /** Bytes that have arrived. */
  int received;

  PendingSend(SendWorkRequest request) {
    this.request = request.copy();
  }

  /** Bytes that the request asks for. */
  int length() {
    return request.length();
  }
}
