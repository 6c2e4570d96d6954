// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

/** Polls the kernel for the bytes that processes have registered, on a thread of its own. */
final class PinnedBytes implements AutoCloseable {
  private final Map<Long, Long> most = new ConcurrentHashMap<>();
  private volatile boolean closed;
  private final CompletableFuture<Void> end = CompletableFuture.runAsync(this::watch);

  private void watch() {
    try {
      while (!closed) {
        RdmaResources.regionBytes()
            .forEach((process, bytes) -> most.merge(process, bytes, Math::max));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The most that each process has had registered so far. */
  Map<Long, Long> most() {
    return Map.copyOf(most);
  }

  /**
   * @throws CompletionException when the kernel could not be asked
   */
  @Override
  public void close() {
    closed = true;
    end.join();
  }
}
