// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.DecodedBatchStream.BatchStreams;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.SparkReading;
import java.io.IOException;
import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;

/**
 * Decompressed members of a batch, for the deserialiser. The batch is released when its last member
 * is closed. If Spark treats an error of a block's stream as a failed fetch, so does this, for the
 * member that was being read. {@link BatchStreams} makes it; Spark's deserialiser reads and closes
 * it, on the task's thread as a rule. One thread at a time.
 */
final class DecodedBatchStream extends InputStream {
  private final FetchedBatch batch;
  private final int first;
  private final boolean last;
  private final BatchInputStream raw;
  private final InputStream delegate;
  private final boolean detectsCorruption;

  /**
   * @param first index of the first member in the batch
   * @param end index after the last member
   * @param last true if no member of the batch comes after it
   */
  DecodedBatchStream(FetchedBatch batch, int first, int end, boolean last, SparkReading spark) {
    this.batch = batch;
    this.first = first;
    this.last = last;
    this.raw = new BatchInputStream(batch::memory, batch.ends(), first, end);
    this.delegate = wrap(spark);
    this.detectsCorruption = spark.detectsCorruption() && delegate != raw;
  }

  /**
   * Decompresses the bytes. Some codecs read when they are made; Spark always treats a failure
   * there as a failed fetch.
   */
  private InputStream wrap(SparkReading spark) {
    try {
      return spark.wrap(batch.group().blockId(batch.firstMember() + first), raw);
    } catch (Exception e) {
      batch.release();
      throw e instanceof IOException io ? fetchFailed(io) : Unchecked.of(e);
    }
  }

  @Override
  public int read() throws IOException {
    try {
      return delegate.read();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    try {
      return delegate.read(target, offset, length);
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public long skip(long count) throws IOException {
    try {
      return delegate.skip(count);
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public int available() throws IOException {
    try {
      return delegate.available();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      delegate.close();
    } finally {
      if (last) {
        batch.release();
      }
    }
  }

  private IOException failure(IOException e) {
    if (!detectsCorruption) {
      return e;
    }
    try {
      close();
    } catch (IOException closing) {
      e.addSuppressed(closing);
    }
    throw fetchFailed(e);
  }

  /** Makes the exception, which has to be thrown at once: its constructor tells the task. */
  private RuntimeException fetchFailed(IOException e) {
    ExecutorBlocks group = batch.group();
    int member = batch.firstMember() + raw.block();
    return Unchecked.of(
        new FetchFailedException(
            group.address(),
            group.shuffleId(),
            group.mapId(member),
            group.mapIndex(member),
            group.startPartition(member),
            e.getMessage() + " (the bytes match the checksum that they were written with)",
            e));
  }

  /** Throws checked exceptions that Scala code such as Spark's throws without declaring them. */
  static final class Unchecked {
    private Unchecked() {}

    /** Throws the exception as it is. The result is for the caller's own {@code throw}. */
    static RuntimeException of(Exception e) {
      throw Unchecked.<RuntimeException>thrown(e);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Exception> E thrown(Exception e) throws E {
      throw (E) e;
    }
  }

  /**
   * Streams of a batch: one over all members if their bytes may be read one after the other, else
   * one per member. Each stream is read and closed before the next one is taken. {@link
   * RdmaBlockFetcherIterator} makes it and uses it on the task's thread. It also calls {@link
   * #release} when it takes the next arrival, in case no stream has released the batch.
   */
  static final class BatchStreams {
    private final FetchedBatch batch;
    private final SparkReading spark;

    /** Index of the next member in the batch. */
    private int next;

    BatchStreams(FetchedBatch batch, SparkReading spark) {
      this.batch = batch;
      this.spark = spark;
    }

    /** Returns true if a member is left. Skips the members that are not in the batch. */
    boolean hasNext() {
      while (next < batch.ends().length && batch.start(next) == batch.ends()[next]) {
        next++; // The member is not in the batch.
      }
      return next < batch.ends().length;
    }

    /** Returns a stream and its first block. */
    Tuple2<BlockId, InputStream> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      int first = next;
      int end = spark.concatenates() ? batch.ends().length : first + 1;
      next = end;
      return new Tuple2<>(
          batch.group().blockId(batch.firstMember() + first),
          // The last stream of a batch releases it.
          new DecodedBatchStream(batch, first, end, !hasNext(), spark));
    }

    /** Releases the batch's memory. A stream that is still open then throws. Idempotent. */
    void release() {
      batch.release();
    }
  }
}
