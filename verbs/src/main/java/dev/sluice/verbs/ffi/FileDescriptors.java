// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Waits, with a deadline, for the file descriptors on which verbs announce events. A thread that
 * blocks in {@code ibv_get_cq_event} itself could not be woken. Any thread.
 */
public final class FileDescriptors {
  private static final CStruct POLLFD =
      CStruct.of("struct pollfd", "int fd; short events, revents");
  private static final NativeFunction POLL =
      NativeFunction.systemCall("int poll(ptr fds, long nfds, int timeoutMs)");
  private static final NativeFunction FCNTL =
      NativeFunction.systemCall("int fcntl(int fd, int cmd, ..., int arg)");

  private static final NativeFunction OPEN =
      NativeFunction.systemCall("int open(ptr pathname, int flags, ..., int mode)");
  private static final NativeFunction CLOSE = NativeFunction.systemCall("int close(int fd)");

  // Numbers of Linux on x86-64 and aarch64 (poll.h, fcntl.h, errno.h).
  private static final int POLLIN = 1;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_CREAT = 0x40;
  private static final int O_NONBLOCK = 0x800;
  private static final int O_CLOEXEC = 0x80000;
  private static final int READ_BY_OWNER_AND_GROUP = 0440;
  private static final int EINTR = 4;

  private FileDescriptors() {}

  /** Makes reads of a descriptor return EAGAIN instead of waiting (fcntl(2), O_NONBLOCK). */
  public static void setNonBlocking(int fd) throws VerbsException {
    FCNTL.call(fd, F_SETFL, FCNTL.call(fd, F_GETFL, 0) | O_NONBLOCK);
  }

  /** Opens a file for reading, and creates it if missing (open(2)). The caller closes it. */
  public static int open(Path file) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = CString.allocate(arena, file.toString());
      return OPEN.call(name, O_CREAT | O_CLOEXEC, READ_BY_OWNER_AND_GROUP);
    }
  }

  public static void close(int fd) throws VerbsException {
    CLOSE.call(fd);
  }

  /**
   * Waits until a descriptor can be read, is at its end or has failed (poll(2)).
   *
   * @param timeoutMs 0 returns at once
   * @param fds the descriptors, at most 64
   * @return a mask: bit i is set if the i-th descriptor is ready; 0 after the timeout
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
      while (!POLL.succeeds(
          EINTR, polled, (long) fds.length, Math.clamp(leftMs, 0, Integer.MAX_VALUE))) {
        leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (leftMs <= 0) {
          return 0;
        }
      }
      long ready = 0;
      for (int i = 0; i < fds.length; i++) {
        ready |= POLLFD.getInt(entry(polled, i), "revents") == 0 ? 0 : 1L << i;
      }
      return ready;
    }
  }

  private static MemorySegment entry(MemorySegment polled, int index) {
    return polled.asSlice(index * POLLFD.size(), POLLFD.size());
  }
}
