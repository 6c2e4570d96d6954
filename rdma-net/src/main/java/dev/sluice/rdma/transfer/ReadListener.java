// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.concurrent.CompletableFuture;

/**
 * Receives the one answer to a read. Called with no lock held, on the completion thread of the
 * device or on the submitter's thread. Must be quick and must not block: all READs of the endpoint
 * wait for it.
 */
public interface ReadListener {
  /** All bytes are in the target buffer. */
  void onSuccess();

  /** The bytes in the target buffer must not be used. */
  void onFailure(ReadException failure);

  /** Completes {@code done} with null, or exceptionally with the failure. */
  static ReadListener completing(CompletableFuture<Void> done) {
    return new ReadListener() {
      @Override
      public void onSuccess() {
        done.complete(null);
      }

      @Override
      public void onFailure(ReadException failure) {
        done.completeExceptionally(failure);
      }
    };
  }
}
