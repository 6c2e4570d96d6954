// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Stream of one partition after the other. A reader of a partition meets the end of the stream at
 * its last byte, and so cannot read into the next one. A {@link RdmaFetcher} makes and closes it,
 * on its thread.
 */
final class PartitionStream extends FilterInputStream {
  /** Bytes of the partition that have not been read. */
  private long left;

  PartitionStream(InputStream bytes) {
    super(bytes);
  }

  void begin(long bytes) {
    left = bytes;
  }

  /** Skips bytes that the reader of the partition did not need. */
  void end() throws IOException {
    byte[] rest = new byte[0];
    while (left > 0) {
      if (rest.length == 0) {
        rest = new byte[(int) Math.min(left, 8192)];
      }
      if (read(rest, 0, rest.length) < 0) {
        throw new EOFException(left + " bytes of a map output are missing");
      }
    }
  }

  @Override
  public int read() throws IOException {
    int read = left > 0 ? in.read() : -1;
    left -= read < 0 ? 0 : 1;
    return read;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    int read = left > 0 ? in.read(target, offset, (int) Math.min(length, left)) : -1;
    left -= Math.max(read, 0);
    return read;
  }

  @Override
  public long skip(long bytes) throws IOException {
    return 0; // Callers read instead.
  }

  @Override
  public int available() {
    return 0;
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
