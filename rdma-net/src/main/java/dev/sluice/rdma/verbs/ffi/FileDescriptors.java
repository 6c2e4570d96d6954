package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * Waiting for the file descriptors on which verbs announce events, with a deadline: a thread that
 * blocked in {@code ibv_get_cq_event} itself could not be woken. Any thread.
 */
public final class FileDescriptors {
  private static final CStruct POLLFD =
      CStruct.of("struct pollfd", CStruct.u32("fd"), CStruct.u16("events"), CStruct.u16("revents"));
  private static final NativeFunction POLL =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "poll(fds, nfds, timeoutMs)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
  private static final NativeFunction FCNTL =
      NativeFunction.variadic(
          "fcntl(fd, cmd, arg)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
          2);

  private static final NativeFunction CLOSE =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "close(fd)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  private static final int POLLIN = 1;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int EINTR = 4;

  private FileDescriptors() {}

  /** Makes reads of a descriptor return EAGAIN where they would wait (fcntl(2), O_NONBLOCK). */
  public static void setNonBlocking(int fd) throws VerbsException {
    FCNTL.call(fd, F_SETFL, FCNTL.call(fd, F_GETFL, 0) | O_NONBLOCK);
  }

  static void close(int fd) throws VerbsException {
    CLOSE.call(fd);
  }

  /**
   * Waits until a descriptor can be read, is at its end or has failed (poll(2)).
   *
   * @param timeoutMs 0 returns at once
   * @param fds the descriptors, at most 64
   * @return bit i is set if the i-th descriptor is ready; 0 after the timeout
   */
  public static long awaitReadable(long timeoutMs, int... fds) throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment polled = arena.allocate(POLLFD.size() * fds.length, Integer.BYTES);
      for (int i = 0; i < fds.length; i++) {
        POLLFD.set(entry(polled, i), "fd", fds[i]);
        POLLFD.set(entry(polled, i), "events", POLLIN);
      }
      long leftMs = timeoutMs;
      while (!poll(polled, fds.length, leftMs)) {
        leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (leftMs <= 0) {
          return 0;
        }
      }
      return ready(polled, fds.length);
    }
  }

  /**
   * @return false if a signal came first
   */
  private static boolean poll(MemorySegment polled, int count, long timeoutMs)
      throws VerbsException {
    try {
      POLL.call(polled, (long) count, (int) Math.min(timeoutMs, Integer.MAX_VALUE));
      return true;
    } catch (VerbsException e) {
      if (e.errno() != EINTR) {
        throw e;
      }
      return false;
    }
  }

  private static long ready(MemorySegment polled, int count) {
    long ready = 0;
    for (int i = 0; i < count; i++) {
      if (POLLFD.getInt(entry(polled, i), "revents") != 0) {
        ready |= 1L << i;
      }
    }
    return ready;
  }

  private static MemorySegment entry(MemorySegment polled, int index) {
    return polled.asSlice(index * POLLFD.size(), POLLFD.size());
  }
}
