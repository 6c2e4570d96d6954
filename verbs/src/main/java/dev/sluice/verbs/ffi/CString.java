// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.charset.StandardCharsets;

/**
 * Strings of C: UTF-8, ended by a byte of zero. The methods of the JDK for them have other names on
 * JDK 21 than on later ones (JEP 454), and this class needs none of them. Any thread.
 */
public final class CString {
  private CString() {}

  /** Returns a copy of the text, with its end, in memory of the allocator. */
  public static MemorySegment allocate(SegmentAllocator allocator, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    MemorySegment string = allocator.allocate(bytes.length + 1L, 1);
    write(string, bytes);
    return string;
  }

  /**
   * Writes the text and its end at the start of the segment.
   *
   * @throws IndexOutOfBoundsException if the segment is too small
   */
  public static void write(MemorySegment segment, String text) {
    write(segment, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void write(MemorySegment segment, byte[] bytes) {
    segment.set(JAVA_BYTE, bytes.length, (byte) 0);
    MemorySegment.copy(bytes, 0, segment, JAVA_BYTE, 0, bytes.length);
  }

  /**
   * Returns the text at the start of the segment.
   *
   * @throws IndexOutOfBoundsException if the segment has no end of a string
   */
  public static String read(MemorySegment segment) {
    int length = 0;
    while (segment.get(JAVA_BYTE, length) != 0) {
      length++;
    }
    byte[] bytes = new byte[length];
    MemorySegment.copy(segment, JAVA_BYTE, 0, bytes, 0, length);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
