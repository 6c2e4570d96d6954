package dev.sluice.rdma.verbs.ffi;

import dev.sluice.rdma.VerbsException;

/** Error numbers in words. */
final class Errno {
  private static final NativeFunction STRERROR =
      NativeFunction.exported(
          NativeLibrary.LIBC, "strerror(errnum)", Failure.NONE, NativeFunction.POINTER_OF_INT);

  private Errno() {}

  /** The text of strerror(3), such as {@code Cannot allocate memory}. */
  static String text(int errno) {
    try {
      return CString.read(STRERROR.callForPointer(errno));
    } catch (VerbsException e) {
      throw new AssertionError("strerror(3) does not fail", e);
    }
  }
}
