package dev.sluice.rdma.verbs.ffi;

/** How a C function says that it failed: each manual page names one of these ways. */
public enum Failure {
  /** It cannot fail, or its result is for the caller to judge. */
  NONE,
  /** It returns NULL and sets errno: functions that create something. */
  NULL_WITH_ERRNO,
  /** It returns the error number itself, else 0: functions that change or destroy something. */
  ERROR_NUMBER,
  /** It returns -1 and sets errno: system calls, and all of librdmacm. */
  MINUS_ONE_WITH_ERRNO;

  boolean setsErrno() {
    return this == NULL_WITH_ERRNO || this == MINUS_ONE_WITH_ERRNO;
  }
}
