// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.SharedBytes.NettyBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NettyManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Target of a block whose bytes come in pieces, one after the other: one of Spark's download files,
 * or memory. {@link LargeBlockRead} makes and uses it, on one delivery thread at a time, and ends
 * it by {@link #finish} or {@link #abort}. If {@code finish} throws, it calls {@code abort} as
 * well, which frees the bytes that were not handed over.
 */
abstract sealed class BlockSink {
  private final FetchCall call;
  private final RequestedBlock block;
  private long position;
  private boolean ended;

  private BlockSink(FetchCall call, RequestedBlock block) {
    this.call = call;
    this.block = block;
  }

  /**
   * Makes the sink of a block: a file if the call has files, else memory.
   *
   * @param length bytes of the block, less than 2 GiB in memory
   */
  static BlockSink of(FetchCall call, TransportConf conf, RequestedBlock block, long length)
      throws IOException {
    DownloadFileManager files = call.files();
    return files == null
        ? new InMemory(call, block, length)
        : new InFile(call, block, files, files.createTempFile(conf));
  }

  /** Returns the number of bytes so far. */
  final long position() {
    return position;
  }

  final void append(MemorySegment piece) throws IOException {
    store(piece);
    position += piece.byteSize();
  }

  /**
   * Hands the block to Spark, or discards it if it has its answer.
   *
   * @param staged true if the block was READ from staging memory
   */
  final void finish(boolean staged) throws IOException {
    ManagedBuffer data = complete();
    ended = true;
    finished(call.deliver(block, data, staged));
  }

  /** Frees the partial block, unless it has ended before. */
  final void abort() {
    if (!ended) {
      ended = true;
      discard();
    }
  }

  /** Stores the bytes that follow {@link #position}. */
  abstract void store(MemorySegment piece) throws IOException;

  /** Returns the bytes, with a reference. */
  abstract ManagedBuffer complete() throws IOException;

  /**
   * Called at the end.
   *
   * @param delivered false if Spark did not take the bytes
   */
  void finished(boolean delivered) {}

  abstract void discard();

  /** A download file. Spark deletes files that it took; this deletes all others. */
  private static final class InFile extends BlockSink {
    private static final Logger LOG = LoggerFactory.getLogger(BlockSink.class);

    private final DownloadFileManager files;
    private final DownloadFile file;
    private final DownloadFileWritableChannel channel;

    InFile(FetchCall call, RequestedBlock block, DownloadFileManager files, DownloadFile file)
        throws IOException {
      super(call, block);
      this.files = files;
      this.file = file;
      try {
        this.channel = file.openForWriting();
      } catch (IOException | RuntimeException e) {
        delete();
        throw e;
      }
    }

    @Override
    void store(MemorySegment piece) throws IOException {
      ByteBuffer unwritten = piece.asByteBuffer();
      while (unwritten.hasRemaining()) {
        channel.write(unwritten);
      }
    }

    @Override
    ManagedBuffer complete() throws IOException {
      return channel.closeAndRead();
    }

    /** Leaves the file to Spark, which deletes it at the end of the task if it takes the file. */
    @Override
    void finished(boolean delivered) {
      if (!delivered || !files.registerTempFileToClean(file)) {
        delete();
      }
    }

    @Override
    void discard() {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.warn("Could not close {}", file.path(), e);
      }
      delete();
    }

    private void delete() {
      if (!file.delete()) {
        LOG.warn("Could not delete {}", file.path());
      }
    }
  }

  /**
   * Memory of the kind that Spark's own transport uses. The block is larger than a buffer of the
   * pool, or than one staging request. Memory is taken only as pieces arrive.
   */
  private static final class InMemory extends BlockSink {
    /**
     * Size of one piece, less than a batch of Netty's pool (io.netty.allocator.maxOrder, 4 MiB).
     * Netty does not pool larger pieces, and the kernel maps and clears their pages anew for each
     * block.
     */
    private static final int PIECE_BYTES = 1 << 20;

    private final int length;
    private final ByteBufAllocator allocator = NettyBuffer.allocator();

    /** Pieces for the bytes so far. */
    private final CompositeByteBuf memory = allocator.compositeDirectBuffer(Integer.MAX_VALUE);

    InMemory(FetchCall call, RequestedBlock block, long length) {
      super(call, block);
      this.length = Math.toIntExact(length);
    }

    @Override
    void store(MemorySegment piece) throws IOException {
      while (memory.writerIndex() < position() + piece.byteSize()) {
        addPiece();
      }
      memory.setBytes((int) position(), piece.asByteBuffer());
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
    ManagedBuffer complete() {
      return new NettyManagedBuffer(memory);
    }

    @Override
    void discard() {
      memory.release();
    }
  }
}
