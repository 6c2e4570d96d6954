// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * {@link Broadcasts} as blocks of bytes in Spark's block managers, in pieces that executors serve
 * each other, as Spark distributes broadcast variables. Spark's variables go through the
 * application's serializer, which may need the application's classes and fail; bytes need none. Any
 * thread that runs no task may call it. Only the driver may {@link #ship}, as each process counts
 * ids from the same value. {@code DriverRuntime} and {@code ExecutorEnvironment} each make one;
 * Spark closes the block manager.
 */
public final class SparkBroadcasts implements Broadcasts {
  private static final Logger LOG = LoggerFactory.getLogger(SparkBroadcasts.class);

  /** Default of {@code spark.broadcast.blockSize}. */
  private static final int PIECE_BYTES = 4 << 20;

  private static final int HANDLE_BYTES = Long.BYTES + Integer.BYTES;

  /** First id, far above Spark's own ones, which start at 0. */
  private static final long FIRST_ID = 1L << 62;

  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final BlockManager blocks;
  private final AtomicLong nextId = new AtomicLong(FIRST_ID);

  public SparkBroadcasts(BlockManager blocks) {
    this.blocks = blocks;
  }

  @Override
  public Shipped ship(byte[] bytes) throws IOException {
    long id = nextId.getAndIncrement();
    try {
      for (int from = 0; from < bytes.length; from += PIECE_BYTES) {
        ByteBuffer piece = ByteBuffer.wrap(bytes, from, pieceBytes(bytes.length, from)).slice();
        if (!put(piece(id, from), piece)) {
          throw new IOException("Spark's block manager has no room for " + piece(id, from));
        }
      }
    } catch (Exception e) { // Scala's methods throw checked exceptions without declaring them.
      destroy(id);
      throw e instanceof IOException failure ? failure : new IOException(e.toString(), e);
    }
    ByteBuffer handle = ByteBuffer.allocate(HANDLE_BYTES).putLong(id).putInt(bytes.length);
    return new Shipped(handle.array(), () -> destroy(id));
  }

  /** Frees a broadcast. Fails harmlessly if the application has ended and the broadcast with it. */
  private void destroy(long id) {
    try {
      blocks.master().removeBroadcast(id, true, false);
    } catch (Exception e) {
      LOG.debug("Destroying broadcast {} of locations failed", id, e);
    }
  }

  @Override
  public byte[] fetch(byte[] handle) throws IOException {
    if (handle.length != HANDLE_BYTES) {
      throw new IOException("not a handle of a broadcast: " + handle.length + " bytes");
    }
    long id = ByteBuffer.wrap(handle).getLong();
    int length = ByteBuffer.wrap(handle).getInt(Long.BYTES);
    if (length < 0) {
      throw new IOException("not a handle of a broadcast: length " + length);
    }
    byte[] bytes = new byte[length];
    for (int from = 0; from < length; from += PIECE_BYTES) {
      byte[] piece = get(piece(id, from));
      if (piece.length != pieceBytes(length, from)) {
        throw new IOException(piece(id, from) + " has " + piece.length + " bytes");
      }
      System.arraycopy(piece, 0, bytes, from, piece.length);
    }
    return bytes;
  }

  private byte[] get(BlockId piece) throws IOException {
    try {
      Option<BlockData> here = blocks.getLocalBytes(piece);
      if (here.isDefined()) {
        try {
          return bytes(here.get().toByteBuffer());
        } finally {
          blocks.releaseLockAndDispose(piece, here.get(), Option.empty());
        }
      }
      Option<ChunkedByteBuffer> fetched = blocks.getRemoteBytes(piece);
      if (fetched.isEmpty()) {
        throw new IOException("neither the driver nor an executor has " + piece);
      }
      byte[] bytes = fetched.get().toArray();
      share(piece, bytes);
      return bytes;
    } catch (Exception e) { // see above
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      throw e instanceof IOException failure ? failure : new IOException(e.toString(), e);
    }
  }

  /** Offers the piece to other executors. This one has it, so a failure costs nothing here. */
  private void share(BlockId piece, byte[] bytes) {
    try {
      put(piece, ByteBuffer.wrap(bytes));
    } catch (Exception e) { // see above
      LOG.debug("Offering {} to other executors failed", piece, e);
    }
  }

  private boolean put(BlockId piece, ByteBuffer bytes) {
    return blocks.putBytes(
        piece, new ChunkedByteBuffer(bytes), StorageLevel.MEMORY_AND_DISK_SER(), true, BYTES);
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static BlockId piece(long id, int from) {
    return new BroadcastBlockId(id, "piece" + from / PIECE_BYTES);
  }

  private static int pieceBytes(int length, int from) {
    return Math.min(PIECE_BYTES, length - from);
  }
}
