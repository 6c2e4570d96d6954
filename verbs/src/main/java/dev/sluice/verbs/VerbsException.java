// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static java.util.Objects.requireNonNull;

import java.io.IOException;

/**
 * Thrown when a verb fails. Holds the operation with its arguments, and the error number that the
 * verb's manual page documents. Callers decide by {@link #errno}, never by the message. Both
 * bindings and both providers throw it.
 */
public class VerbsException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Linux error numbers (errno-base.h) that verbs return. */
  public static final int EPERM = 1;

  public static final int ENOENT = 2;
  public static final int EIO = 5;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EFAULT = 14;
  public static final int EBUSY = 16;
  public static final int EINVAL = 22;
  public static final int EMFILE = 24;
  public static final int ENOSYS = 38;
  public static final int EOPNOTSUPP = 95;
  public static final int ENETDOWN = 100;

  private final int errno;

  /**
   * @param operation the verb with its arguments, such as {@code "ibv_reg_mr(length=4096)"}
   * @param errno the error number: one of the constants, or another number of errno(3)
   * @param reason explanation in words
   */
  public VerbsException(String operation, int errno, String reason) {
    super(operation + ": " + reason + " (errno " + errno + ")");
    this.errno = errno;
  }

  /** Returns the exception for an argument or a state that does not allow an operation (EINVAL). */
  public static VerbsException invalid(String operation, String reason) {
    return new VerbsException(operation, EINVAL, reason);
  }

  /** Returns the message, which is never null. */
  @Override
  public String getMessage() {
    return requireNonNull(super.getMessage());
  }

  public int errno() {
    return errno;
  }
}
