package dev.sluice.rdma.verbs.ffi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.VerbsException;
import java.io.Closeable;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;

/**
 * A file that is open for reading, by its descriptor, and so without a wait for its disk where
 * nobody is to wait for that (preadv2(2)). Any thread, which may be interrupted; whoever opened it
 * closes it, after the last read.
 */
public final class FileFd implements Closeable {
  private static final int O_CLOEXEC = 0x80000;
  private static final int RWF_NOWAIT = 8;

  private static final Set<Integer> CANNOT_TELL =
      Set.of(
          VerbsException.EOPNOTSUPP,
          VerbsException.ENOSYS,
          VerbsException.EINVAL,
          VerbsException.EPERM);

  /** On the way to an array. */
  private static final int MAX_COPY_BYTES = 64 << 10;

  private static final CStruct IOVEC =
      CStruct.of("struct iovec", CStruct.pointer("iov_base"), CStruct.u64("iov_len"));
  private static final NativeFunction OPEN =
      NativeFunction.variadic(
          "open(path, flags)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
          2);
  private static final NativeFunction PREAD =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "pread(fd, buf, count, offset)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final NativeFunction PREADV2 =
      NativeFunction.exported(
          NativeLibrary.LIBC,
          "preadv2(fd, iov, iovcnt, offset, flags)",
          Failure.MINUS_ONE_WITH_ERRNO,
          FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, JAVA_INT));

  private final int fd;
  private volatile boolean closed;

  /** Whether C library, kernel and file system can tell; they are not asked again if not. */
  private volatile boolean tellsCached = true;

  private FileFd(int fd) {
    this.fd = fd;
  }

  /** Null where that fails, or where native access was not allowed: Java may have more luck. */
  public static FileFd tryOpen(Path file) {
    if (!FileFd.class.getModule().isNativeAccessEnabled()) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      return new FileFd(OPEN.call(arena.allocateFrom(file.toString()), O_CLOEXEC));
    } catch (VerbsException _) {
      return null;
    }
  }

  /**
   * Reads some bytes, as a channel does.
   *
   * @param cached whether only what the page cache has is wanted; one that cannot tell reads as its
   *     disk answers
   * @return how many, 0 where the page cache has none, -1 at the file's end
   */
  public int read(long position, ByteBuffer target, boolean cached) throws VerbsException {
    if (closed) {
      throw new VerbsException("read", VerbsException.EINVAL, "the file is closed");
    }
    if (!target.isDirect()) {
      return readHeap(position, target, cached);
    }
    MemorySegment memory = MemorySegment.ofBuffer(target);
    int count = cached && tellsCached ? readCached(position, memory) : -1;
    if (count < 0) {
      count = Math.toIntExact((long) PREAD.invoke(fd, memory, memory.byteSize(), position));
      if (count == 0) {
        return -1;
      }
    }
    target.position(target.position() + count);
    return count;
  }

  private int readHeap(long from, ByteBuffer target, boolean cached) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      ByteBuffer copy = arena.allocate(Math.min(target.remaining(), MAX_COPY_BYTES)).asByteBuffer();
      int all = 0;
      int count;
      do {
        copy.clear().limit(Math.min(copy.capacity(), target.remaining()));
        count = read(from + all, copy, cached);
        target.put(copy.flip());
        all += Math.max(0, count);
      } while (count > 0 && target.hasRemaining());
      return all > 0 ? all : count;
    }
  }

  /** As {@link #read}, and -1 where nobody can tell. */
  private int readCached(long position, MemorySegment memory) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment iov = IOVEC.allocate(arena);
      IOVEC.set(iov, "iov_base", memory);
      IOVEC.set(iov, "iov_len", memory.byteSize());
      int count = Math.toIntExact((long) PREADV2.invoke(fd, iov, 1, position, RWF_NOWAIT));
      return count == 0 ? -1 : count;
    } catch (VerbsException e) {
      if (CANNOT_TELL.contains(e.errno())) {
        tellsCached = false;
      }
      return e.errno() == VerbsException.EAGAIN ? 0 : -1;
    }
  }

  /** Idempotent. */
  @Override
  public synchronized void close() throws VerbsException {
    if (!closed) {
      closed = true;
      FileDescriptors.close(fd);
    }
  }
}
