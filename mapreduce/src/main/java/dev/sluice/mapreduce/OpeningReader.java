// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.InputStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A reader that a thread of its own opens, which takes about a second in a new process. Hadoop
 * prepares the copy phase meanwhile. Fetchers wait for the reader at their first host. If it cannot
 * be opened, they get the reason, and all map outputs go by HTTP. {@link InstalledReader} makes it.
 */
final class OpeningReader implements NodeReader {
  private static final long TIMEOUT_S = 60;

  /** Opens the reader. */
  @FunctionalInterface
  interface Opener {
    /**
     * @throws NodeReadException if this machine cannot READ, with the reason
     */
    NodeReader open() throws NodeReadException;
  }

  private final CompletableFuture<NodeReader> opened = new CompletableFuture<>();

  OpeningReader(Opener opener) {
    Thread thread = new Thread(() -> open(opener), "sluice-reader");
    thread.setDaemon(true);
    thread.start();
  }

  private void open(Opener opener) {
    try {
      NodeReader reader = opener.open();
      if (!opened.complete(reader)) {
        reader.close(); // No fetcher waits for it any more.
      }
    } catch (Throwable e) { // Errors too: fetchers wait for it.
      opened.completeExceptionally(e);
    }
  }

  @Override
  public List<RemotePartition> locate(String host, long[] mapIds)
      throws NodeReadException, InterruptedException {
    return await().locate(host, mapIds);
  }

  private NodeReader await() throws NodeReadException, InterruptedException {
    try {
      return opened.get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw giveUp("the reader was not opened in " + TIMEOUT_S + " s", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NodeReadException) {
        throw (NodeReadException) e.getCause();
      }
      throw giveUp("the reader cannot be opened: " + e.getCause(), e.getCause());
    }
  }

  /** Ends the wait for a reader that is not open yet. Returns the failure that fetchers get. */
  private NodeReadException giveUp(String reason, @Nullable Throwable cause) {
    NodeReadException failure = new NodeReadException(HttpReason.OFF, reason, cause);
    opened.completeExceptionally(failure);
    return failure;
  }

  @Override
  public InputStream open(List<RemotePartition> wanted) {
    return opened.join().open(wanted); // It has located them.
  }

  @Override
  public void close() {
    giveUp("the reader is closed", null);
    opened.thenAccept(NodeReader::close);
  }
}
