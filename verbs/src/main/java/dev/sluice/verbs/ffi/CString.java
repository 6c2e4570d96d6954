// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import java.lang.foreign.MemorySegment;

/** Copies strings that a C library owns. Any thread. */
public final class CString {
  private CString() {}

  /**
   * Copies a string that a C library owns. NULL becomes an empty string.
   *
   * @param pointer points to a string that ends with a zero byte; may be NULL
   */
  @SuppressWarnings("restricted")
  public static String read(MemorySegment pointer) {
    return pointer.address() == 0 ? "" : pointer.reinterpret(Long.MAX_VALUE).getString(0);
  }
}
