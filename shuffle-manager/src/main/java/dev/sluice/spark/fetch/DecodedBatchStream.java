// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.shuffle.FetchFailedException;

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
}
