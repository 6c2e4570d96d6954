// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/**
 * A C function to call: a {@link NativeFunction}, or a constant of an enumeration of a library's
 * functions. Any thread.
 */
public interface CFunction {
  /**
   * Calls a function of any return type; the result of a void function is null. Arguments on the
   * {@link NativeFunction#HEAP} are copied to native memory, and copied back after the call.
   */
  Object invoke(Object... arguments) throws VerbsException;

  /**
   * Calls a function that returns an int.
   *
   * @throws VerbsException if the function fails; ENOSYS if the library lacks the function
   */
  default int call(Object... arguments) throws VerbsException {
    return (int) invoke(arguments);
  }

  /** Calls a function that returns a pointer, as {@link #call}: a segment of length zero. */
  default MemorySegment callForPointer(Object... arguments) throws VerbsException {
    return (MemorySegment) invoke(arguments);
  }

  /** Calls a function. Returns false if it fails with the error number that is expected. */
  default boolean succeeds(int expectedErrno, Object... arguments) throws VerbsException {
    try {
      invoke(arguments);
      return true;
    } catch (VerbsException e) {
      if (e.errno() != expectedErrno) {
        throw e;
      }
      return false;
    }
  }

  /** Calls a function that returns a string, and copies the string. NULL becomes an empty one. */
  @SuppressWarnings("restricted")
  default String callForString(Object... arguments) throws VerbsException {
    MemorySegment string = callForPointer(arguments);
    return string.address() == 0 ? "" : CString.read(string.reinterpret(Long.MAX_VALUE));
  }
}
