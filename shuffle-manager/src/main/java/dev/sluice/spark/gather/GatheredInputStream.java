package dev.sluice.spark.gather;

import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.shuffle.FetchFailedException;

/**
 * Members of a chunk as the deserialiser reads them: decompressed. The chunk is released when its
 * last member is closed. Where Spark takes an error of a block's stream for a failed fetch, so does
 * this, of the member that was being read. For one thread at a time.
 */
final class GatheredInputStream extends InputStream {
  private final Chunk chunk;
  private final int first;
  private final boolean last;
  private final ChunkInputStream raw;
  private final InputStream delegate;
  private final boolean detectsCorruption;

  /**
   * @param first the first member in the chunk
   * @param end the one after the last
   * @param last whether none of the chunk comes after it
   */
  GatheredInputStream(Chunk chunk, int first, int end, boolean last, SparkReading spark) {
    this.chunk = chunk;
    this.first = first;
    this.last = last;
    this.raw = new ChunkInputStream(chunk::memory, chunk.ends(), first, end);
    this.delegate = wrap(spark);
    this.detectsCorruption = spark.detectsCorruption() && delegate != raw;
  }

  /** Some codecs read when they are made. To Spark it is always a failed fetch when they fail. */
  private InputStream wrap(SparkReading spark) {
    try {
      return spark.wrap(chunk.group().blockId(chunk.firstMember() + first), raw);
    } catch (Exception e) {
      chunk.release();
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
        chunk.release();
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

  /** The exception's constructor tells the task about it: to be thrown at once. */
  private RuntimeException fetchFailed(IOException e) {
    BlockGroup group = chunk.group();
    int member = chunk.firstMember() + raw.block();
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
