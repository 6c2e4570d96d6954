package dev.sluice.rdma.transfer;

import java.util.concurrent.CompletableFuture;

/**
 * Gets the one answer to a read. Called with no lock held, on the completion thread of the device
 * or on the thread that submitted: must be quick and must not block.
 */
public interface ReadListener {
  /** All bytes are in the target buffer. */
  void onSuccess();

  /** None of the target buffer may be used. */
  void onFailure(ReadException failure);

  /** One for whoever waits: completes with null, or exceptionally with the failure. */
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
