// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.rdma.transfer.ReadListener;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The parts of the transfer engine and of the control channel that reading needs. {@link
 * EndpointTransport} implements it; tests script it. Fetches and partition tables call it on any
 * thread. No method blocks. The caller may hold no lock: answers come on its own thread, the
 * completion thread or a transport thread.
 */
public interface ReadTransport {
  /** Returns the size of the largest possible buffer in bytes. */
  int maxBufferBytes();

  /** Returns the limit of all buffers in bytes. */
  long poolBytes();

  /**
   * Hands a buffer of at least so many bytes to {@code taker}, or null if none became free by the
   * deadline. Runs it on this thread, the one that releases a buffer, or the transfer engine's; it
   * must not block.
   */
  void acquire(int bytes, long deadlineNanos, Consumer<ReadBuffer> taker);

  /** Returns true if a request waits for a buffer. */
  boolean isShort();

  /** Calls {@code listener}, on any thread, whenever a request has to wait for a buffer. */
  void onShortage(Runnable listener);

  /**
   * READs the ranges back to back into {@code target}, from {@code offset} on. The listener gets
   * exactly one answer.
   */
  void read(
      PeerAddress peer,
      List<RemoteRegion> ranges,
      ReadBuffer target,
      int offset,
      long deadlineNanos,
      ReadListener listener);

  /** Stages as {@link dev.sluice.blocks.client.BlockServerClient#stage} does. */
  CompletableFuture<Object> stage(PeerAddress peer, Stage request);

  /** Counts a line of the log that names a slow peer. */
  void slowPeer();

  /** Ends a lease, after which the staged bytes must not be READ. Gets no answer. */
  void done(PeerAddress peer, long leaseId);

  /** Tells the peer that its map outputs of the shuffle are in use. Limits its own rate. */
  void touch(PeerAddress peer, int shuffleId);
}
