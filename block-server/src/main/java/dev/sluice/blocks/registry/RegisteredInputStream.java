// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Reads partitions of a map output from their registered memory, as if from the file. Wrong bytes
 * in the file are wrong here as well; Spark detects and diagnoses them (SPARK-36206). A mapped file
 * may be truncated, though, and part of it may then read as zeros. The last byte is therefore
 * returned only if the file is not shorter than these partitions need.
 *
 * <p>The memory stays mapped until the end of the partitions is reached or the stream is closed,
 * even if the map output is unregistered and its file deleted meanwhile. A task that fetches its
 * executor's own block gets it from the {@link MapOutputRegistry}. For one thread, except for
 * {@link #close}, which any thread may call.
 */
public final class RegisteredInputStream extends InputStream {
  private final MapOutput output;
  private final long end;
  private final AtomicBoolean closed = new AtomicBoolean();
  private long position;

  /**
   * Takes over a reference to the map output's table and memory.
   *
   * @param start offset in the data file
   * @param end offset in the data file, greater than {@code start}
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
   * @throws IOException if the stream was closed early, the file is truncated, or its disk fails
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
      // Not the cause: Spark would end the executor for an InternalError (Executor#isFatalError).
      throw new IOException(output + " cannot be read through its mapping: " + e.getMessage());
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
