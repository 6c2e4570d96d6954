package dev.sluice.spark.read;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * Spark's listener for a block that was READ wrong, which Spark's own transfer fetches now: what
 * that brings has to be what was written, too. Spark itself does not look, and takes a block that
 * ends early for a shorter one; a failed fetch has the map output written again. Any thread.
 */
final class VerifyingListener implements BlockFetchingListener {
  private static final int PIECE_BYTES = 64 << 10;

  private final LocatedBlock located;
  private final BlockFetchingListener listener;

  VerifyingListener(LocatedBlock located, BlockFetchingListener listener) {
    this.located = located;
    this.listener = listener;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
    IOException wrong = problem(blockId, data);
    if (wrong == null) {
      listener.onBlockFetchSuccess(blockId, data);
    } else {
      listener.onBlockFetchFailure(blockId, wrong);
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    listener.onBlockFetchFailure(blockId, failure);
  }

  /** Null for the bytes that were written. */
  private IOException problem(String blockId, ManagedBuffer data) {
    try {
      if (data.size() == located.length() && matches(data)) {
        return null;
      }
      return new IOException(
          "Block "
              + blockId
              + " is not what was written: neither what was READ nor what Spark's transfer has"
              + " brought matches its checksum");
    } catch (IOException e) {
      return e;
    }
  }

  private boolean matches(ManagedBuffer data) throws IOException {
    PartitionVerifier verifier = new PartitionVerifier(located, true);
    if (data instanceof FileSegmentManagedBuffer) {
      try (InputStream in = data.createInputStream()) {
        byte[] piece = new byte[PIECE_BYTES];
        for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
          verifier.update(MemorySegment.ofArray(piece).asSlice(0, count));
        }
      }
    } else {
      // Not its stream: that of a buffer of Netty's can be read once.
      verifier.update(MemorySegment.ofBuffer(data.nioByteBuffer()));
    }
    return verifier.matches();
  }
}
