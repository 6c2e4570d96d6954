// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import java.io.IOException;
import java.io.InputStream;

/**
 * Lines of a log, one after the other, as a stream that ends with the line. Memory does not depend
 * on the length of a line. {@link EventReader} makes it for each file on the main thread. Closing
 * it does nothing, so that a parser may close a line; its maker closes the file.
 */
final class LogLines extends InputStream {
  private static final int BUFFER_BYTES = 1 << 16;

  private final InputStream in;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int next;
  private int end;

  /** True before the first line, between lines, and after the last one. */
  private boolean isBetween = true;

  LogLines(InputStream in) {
    this.in = in;
  }

  /**
   * Skips the rest of the line, and begins the next one.
   *
   * @return false at the end of the log
   */
  boolean nextLine() throws IOException {
    while (!isBetween) {
      if (!hasBytes()) {
        return false;
      }
      next = endOfLine(end);
      endLine();
    }
    isBetween = !hasBytes();
    return !isBetween;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (isBetween || !hasBytes()) {
      return -1;
    }
    int lineEnd = endOfLine((int) Math.min(end, (long) next + length));
    int count = lineEnd - next;
    System.arraycopy(buffer, next, bytes, offset, count);
    next = lineEnd;
    endLine();
    return count == 0 && length > 0 ? -1 : count;
  }

  /** Returns the place of the next line break in the buffer, else the limit. */
  private int endOfLine(int limit) {
    int at = next;
    while (at < limit && buffer[at] != '\n') {
      at++;
    }
    return at;
  }

  /** Steps over a line break if it is next. */
  private void endLine() {
    if (next < end && buffer[next] == '\n') {
      next++;
      isBetween = true;
    }
  }

  private boolean hasBytes() throws IOException {
    while (next == end) {
      int count = in.read(buffer);
      if (count < 0) {
        return false;
      }
      next = 0;
      end = count;
    }
    return true;
  }
}
