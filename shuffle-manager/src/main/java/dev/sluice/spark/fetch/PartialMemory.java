// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.LargeBlockRead.PartialBlock;
import dev.sluice.spark.fetch.SharedBytes.NettyBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.spark.network.buffer.NettyManagedBuffer;

/**
 * A block that is received into memory of the kind that Spark's own transport uses. The block is
 * larger than a buffer of the pool, or than one staging request. {@link PartialBlock} names owner
 * and threads. {@link #finish} gives the memory away, {@link #abort} frees it.
 */
final class PartialMemory extends PartialBlock {
  /**
   * Size of one piece, less than a batch of Netty's pool (io.netty.allocator.maxOrder, 4 MiB).
   * Netty does not pool larger pieces, and the kernel maps and clears their pages anew for each
   * block.
   */
  private static final int PIECE_BYTES = 1 << 20;

  private final RequestedBlock block;
  private final int length;
  private final ByteBufAllocator allocator = NettyBuffer.allocator();

  /** Pieces for the bytes so far. */
  private final CompositeByteBuf memory = allocator.compositeDirectBuffer(Integer.MAX_VALUE);

  private boolean ended;

  /**
   * Takes memory only as slices arrive.
   *
   * @param length bytes of the block, less than 2 GiB
   */
  PartialMemory(RequestedBlock block, long length) {
    this.block = block;
    this.length = Math.toIntExact(length);
  }

  @Override
  void store(MemorySegment slice) throws IOException {
    while (memory.writerIndex() < position() + slice.byteSize()) {
      addPiece();
    }
    memory.setBytes((int) position(), slice.asByteBuffer());
  }

  private void addPiece() throws IOException {
    int bytes = Math.min(PIECE_BYTES, length - memory.writerIndex());
    try {
      ByteBuf piece = allocator.directBuffer(bytes, bytes);
      memory.addComponent(true, piece.writerIndex(bytes));
    } catch (OutOfMemoryError e) {
      throw new IOException("no memory for a block of " + length + " bytes", e);
    }
  }

  @Override
  void finish(FetchCall call, boolean staged) {
    NettyManagedBuffer data = new NettyManagedBuffer(memory);
    ended = true;
    call.deliver(block, data, staged);
  }

  @Override
  void abort() {
    if (!ended) {
      ended = true;
      memory.release();
    }
  }
}
