package dev.sluice.blocks;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Reads partitions of a map output where they are registered, as one would from its file: what is
 * wrong there is wrong here, and Spark finds out and diagnoses it (SPARK-36206). The memory may be
 * a mapping of a file that somebody truncates, though, of which a part may then read as zeros; so
 * the last byte is returned only if the file is as long as it was.
 *
 * <p>The memory stays mapped until the end of the partitions is reached or the stream is closed,
 * also when the map output is unregistered and its file deleted meanwhile. For one thread, except
 * for {@link #close}, which any thread may call.
 */
public final class RegisteredInputStream extends InputStream {
  private final MapOutput output;
  private final long end;
  private final AtomicBoolean closed = new AtomicBoolean();
  private long position;

  /**
   * Takes over a reference to the map output's table and memory.
   *
   * @param start in the data file
   * @param end in the data file, after the start
   */
  RegisteredInputStream(MapOutput output, long start, long end) {
    this.output = output;
    this.position = start;
    this.end = end;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) == -1 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  /**
   * @throws IOException when the stream was closed before its end, or the file is truncated or its
   *     disk fails
   */
  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    if (position == end) {
      return -1;
    }
    if (closed.get()) {
      throw new IOException("The stream of " + output + " is closed");
    }
    int count = (int) Math.min(length, end - position);
    try {
      output.copy(position, target, offset, count);
    } catch (InternalError e) {
      // Not as the cause: Spark would end the executor for it (Executor#isFatalError).
      throw new IOException(output + " cannot be read where it is mapped: " + e.getMessage());
    }
    if (position + count == end) {
      output.checkLength(end);
      close();
    }
    position += count;
    return count;
  }

  @Override
  public int available() {
    return (int) Math.min(Integer.MAX_VALUE, end - position);
  }

  /** Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      output.table().release();
    }
  }
}
