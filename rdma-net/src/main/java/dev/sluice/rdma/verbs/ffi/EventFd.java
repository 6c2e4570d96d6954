package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;

/**
 * A descriptor by which one thread wakes another that waits in {@link
 * FileDescriptors#awaitReadable} (eventfd(2)). Any thread; whoever created it closes it, after the
 * last {@link #signal}.
 */
public final class EventFd implements AutoCloseable {
  private static final int EFD_NONBLOCK_CLOEXEC = 0x800 | 0x80000;
  private static final FunctionDescriptor TRANSFER =
      FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final NativeFunction EVENTFD =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "eventfd(initval, flags)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final NativeFunction READ =
      NativeFunction.exported(
          NativeLibrary.LIBC, "read(fd, buf, count)", Failure.MINUS_ONE_WITH_ERRNO, TRANSFER);
  private static final NativeFunction WRITE =
      NativeFunction.exported(
          NativeLibrary.LIBC, "write(fd, buf, count)", Failure.MINUS_ONE_WITH_ERRNO, TRANSFER);

  private final int fd;
  private boolean closed;

  public EventFd() throws VerbsException {
    fd = EVENTFD.call(0, EFD_NONBLOCK_CLOEXEC);
  }

  public int fd() {
    return fd;
  }

  /** Makes the descriptor readable. Does nothing after {@link #close}. */
  public synchronized void signal() throws VerbsException {
    if (!closed) {
      transfer(WRITE, 1);
    }
  }

  /** Makes the descriptor unreadable until the next {@link #signal}. */
  public synchronized void clear() throws VerbsException {
    if (!closed) {
      transfer(READ, 0);
    }
  }

  /** EAGAIN means that the counter is at its end already, which is as good. */
  private void transfer(NativeFunction function, long value) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      function.invoke(fd, arena.allocateFrom(JAVA_LONG, value), (long) Long.BYTES);
    } catch (VerbsException e) {
      if (e.errno() != VerbsException.EAGAIN) {
        throw e;
      }
    }
  }

  @Override
  public synchronized void close() throws VerbsException {
    if (!closed) {
      closed = true;
      FileDescriptors.close(fd);
    }
  }
}
