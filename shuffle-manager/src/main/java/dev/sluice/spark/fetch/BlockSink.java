// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.SharedBytes.NettyBuffer;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NettyManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Target of a block whose bytes come in slices, one after the other: one of Spark's download files,
 * or memory. Verifies the bytes, and lets a block with wrong ones be READ once more. {@link
 * LargeBlockRead} makes and uses it, on one delivery thread at a time, and ends it by {@link #end}
 * or {@link #abort}. If {@code end} throws, it calls {@code abort} as well, which frees the bytes
 * that were not handed over.
 */
abstract sealed class BlockSink {
  private static final Logger LOG = LoggerFactory.getLogger(BlockSink.class);

  /**
   * Size of a piece, which is verified and stored while it is in the core's cache. Linux gives a
   * write folios of its own size. For folios above 32 KiB (PAGE_ALLOC_COSTLY_ORDER) it compacts and
   * reclaims memory even if some is free. Map outputs then have to come from the disk again.
   */
  private static final int PIECE_BYTES = 32 << 10;

  private final FetchContext path;
  private final ReadAttempt attempt;
  private final int block;
  private final boolean again;
  private final BlockVerifier verifier;
  private long position;
  private boolean ended;

  private BlockSink(FetchContext path, ReadAttempt attempt, int block, boolean again) {
    this.path = path;
    this.attempt = attempt;
    this.block = block;
    this.again = again;
    this.verifier = new BlockVerifier(path, attempt.located());
    verifier.begin(block);
  }

  /**
   * Makes the sink of a block: a file if the call has files, else memory. Memory has the same bound
   * as that of Spark's own transport: spark.reducer.maxSizeInFlight, or one block of less than 2
   * GiB.
   *
   * @param again true if the block is READ for the second time
   */
  static BlockSink of(FetchContext path, ReadAttempt attempt, int block, boolean again)
      throws IOException {
    DownloadFileManager files = attempt.call().files();
    return files == null
        ? new InMemory(path, attempt, block, again)
        : new InFile(path, attempt, block, again, files);
  }

  final long length() {
    return attempt.located().length(block);
  }

  final long position() {
    return position;
  }

  /** Verifies and stores the next bytes. */
  final void append(MemorySegment bytes) throws IOException {
    for (long from = 0; from < bytes.byteSize(); from += PIECE_BYTES) {
      MemorySegment piece = bytes.asSlice(from, Math.min(PIECE_BYTES, bytes.byteSize() - from));
      verifier.update(piece.asByteBuffer());
      store(piece);
      position += piece.byteSize();
    }
  }

  /**
   * Hands the block to Spark. Discards it if it has its answer, or has wrong bytes. If these came
   * for the second time, the block falls back.
   *
   * @return false if the block has to be READ again
   */
  final boolean end() throws IOException {
    LocatedBlocks located = attempt.located();
    RequestedBlock requested = attempt.block(block);
    if (position < length()) { // It had its answer before its last slice.
      abort();
    } else if (verifier.matches()) {
      ManagedBuffer data = complete();
      ended = true;
      finished(attempt.call().deliver(requested, data, located.isStaged(block)));
    } else {
      abort();
      path.counters().add(ShuffleCounter.CORRUPTIONS, 1);
      LOG.warn(
          "Block {} READ in slices from {} does not match the checksum it was written with; {}",
          requested,
          located.peer(),
          again ? "Spark's own transfer fetches it" : "it is READ again");
      if (!again) {
        return false;
      }
      attempt.call().fallBack(List.of(requested), FallbackReason.CHECKSUM);
    }
    return true;
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
    private final DownloadFileManager files;
    private final DownloadFile file;
    private final DownloadFileWritableChannel channel;

    InFile(
        FetchContext path, ReadAttempt attempt, int block, boolean again, DownloadFileManager files)
        throws IOException {
      super(path, attempt, block, again);
      this.files = files;
      this.file = files.createTempFile(path.transportConf());
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
     * Size of one component, less than a batch of Netty's pool (io.netty.allocator.maxOrder, 4
     * MiB). Netty does not pool larger ones, and the kernel maps and clears their pages anew for
     * each block.
     */
    private static final int COMPONENT_BYTES = 1 << 20;

    private final int length;
    private final ByteBufAllocator allocator = NettyBuffer.allocator();

    /** Components for the bytes so far. */
    private final CompositeByteBuf memory = allocator.compositeDirectBuffer(Integer.MAX_VALUE);

    InMemory(FetchContext path, ReadAttempt attempt, int block, boolean again) {
      super(path, attempt, block, again);
      this.length = Math.toIntExact(length());
    }

    @Override
    void store(MemorySegment piece) throws IOException {
      while (memory.writerIndex() < position() + piece.byteSize()) {
        addComponent();
      }
      memory.setBytes((int) position(), piece.asByteBuffer());
    }

    private void addComponent() throws IOException {
      int bytes = Math.min(COMPONENT_BYTES, length - memory.writerIndex());
      try {
        ByteBuf added = allocator.directBuffer(bytes, bytes);
        memory.addComponent(true, added.writerIndex(bytes));
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
