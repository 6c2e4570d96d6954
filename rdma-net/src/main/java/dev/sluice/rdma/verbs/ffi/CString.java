package dev.sluice.rdma.verbs.ffi;

import java.lang.foreign.MemorySegment;

/** Strings that a C library owns. */
public final class CString {
  private CString() {}

  /**
   * @param pointer to a string that ends with a zero byte; may be NULL
   */
  @SuppressWarnings("restricted")
  public static String read(MemorySegment pointer) {
    return pointer.address() == 0 ? "" : pointer.reinterpret(Long.MAX_VALUE).getString(0);
  }
}
