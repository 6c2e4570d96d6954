package dev.sluice.spark.transport;

import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadListener;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * What reading needs of the transfer engine and of the control channel, so that tests can script
 * both. Called by any thread; nothing here blocks.
 */
public interface ReadTransport {
  /** A piece of registered memory, whose owner releases it once. */
  interface Buffer {
    MemorySegment segment();

    void release();
  }

  /** The largest buffer that can be asked for, in bytes. */
  int maxBufferBytes();

  /** Bytes of all buffers at most. */
  long poolBytes();

  /** Hands a buffer to {@code taker}, or null when none became free by the deadline. */
  void acquire(int bytes, long deadlineNanos, Consumer<Buffer> taker);

  /** Whether somebody waits for a buffer. */
  boolean isShort();

  /** Has {@code listener} called, on any thread, when somebody has to wait for a buffer. */
  void onShortage(Runnable listener);

  /**
   * READs the ranges back to back into {@code target}, from {@code offset} on; the listener gets
   * exactly one answer.
   */
  void read(
      PeerAddress peer,
      List<RemoteRegion> ranges,
      Buffer target,
      int offset,
      long deadlineNanos,
      ReadListener listener);

  /** As {@link dev.sluice.blocks.client.BlockServerClient#stage}. */
  CompletableFuture<Object> stage(PeerAddress peer, Stage request);

  /** As {@link dev.sluice.blocks.client.BlockServerClient#tables}. */
  CompletableFuture<Object> tables(PeerAddress peer, GetTables request);

  /** Ends a lease. */
  void done(PeerAddress peer, long leaseId);

  /** Tells the peer that its map outputs of the shuffle are in use; limits its own rate. */
  void touch(PeerAddress peer, int shuffleId);
}
