// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

/**
 * Conventions by which C functions report failures. A function's manual page tells which; {@link
 * NativeFunction} turns each into an exception, so a new convention needs a case there.
 */
public enum Failure {
  /** The function cannot fail, or the caller interprets its result. */
  NONE,
  /** Returns NULL and sets errno: functions that create something. */
  NULL_WITH_ERRNO,
  /** Returns the error number itself, else 0: functions that change or destroy something. */
  ERROR_NUMBER,
  /** Returns -1 and sets errno: system calls, and all functions of librdmacm. */
  MINUS_ONE_WITH_ERRNO,
  /** Returns a negative code of its own and sets errno: {@code ibv_rereg_mr}. */
  NEGATIVE_WITH_ERRNO;

  /**
   * Returns the usual convention of a declaration: NULL with errno for a pointer, none for void.
   *
   * @param ofNumbers convention of functions that return a number
   */
  public static Failure of(String declaration, Failure ofNumbers) {
    return declaration.startsWith("ptr ")
        ? NULL_WITH_ERRNO
        : declaration.startsWith("void ") ? NONE : ofNumbers;
  }
}
