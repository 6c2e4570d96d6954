// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.PageSize;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ffi.NativeFunction;
import java.io.Closeable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file that is open for reading by its descriptor. It can read without waiting for the disk
 * (preadv2(2)). Any thread, even an interrupted one. {@link SharedFile} or {@link DiskFile} opens
 * it, and closes it after the last read.
 */
public final class FileFd implements Closeable {
  /** Values of Linux: open(2), preadv2(2), mmap(2). */
  private static final int O_CLOEXEC = 0x80000;

  private static final int O_NONBLOCK = 0x800;

  private static final int RWF_NOWAIT = 8;
  private static final int PROT_NONE = 0;
  private static final int MAP_SHARED = 1;

  /** Type of tmpfs in statfs(2): its files lie in memory. */
  private static final long TMPFS_MAGIC = 0x01021994;

  /** Type of overlayfs in statfs(2): mappings are of the file in the layer below. */
  private static final long OVERLAYFS_MAGIC = 0x794c7630;

  private static final Set<Integer> CANNOT_TELL =
      Set.of(
          VerbsException.EOPNOTSUPP,
          VerbsException.ENOSYS,
          VerbsException.EINVAL,
          VerbsException.EPERM);

  /** Size of the copy on the way to an array. */
  private static final int MAX_COPY_BYTES = 64 << 10;

  private static final CStruct IOVEC = CStruct.of("struct iovec", "ptr iov_base; long iov_len");
  private static final NativeFunction OPEN =
      NativeFunction.systemCall("int open(ptr path, int flags, ...)");
  private static final NativeFunction PREAD =
      NativeFunction.systemCall("long pread(int fd, ptr buf, long count, long offset)");
  private static final NativeFunction PREADV2 =
      NativeFunction.systemCall(
          "long preadv2(int fd, ptr iov, int iovcnt, long offset, int flags)");

  private static final NativeFunction MMAP =
      NativeFunction.systemCall(
          "long mmap(long addr, long length, int prot, int flags, int fd, long offset)");
  private static final NativeFunction MINCORE =
      NativeFunction.systemCall("int mincore(long addr, long length, ptr vec)");
  private static final NativeFunction MUNMAP =
      NativeFunction.systemCall("int munmap(long addr, long length)");
  private static final NativeFunction FSTATFS =
      NativeFunction.systemCall("int fstatfs(int fd, ptr buf)");

  /** Offset beyond the end of any file, where a read does not wait. */
  private static final long BEHIND_ALL = 1L << 62;

  /** Larger than struct statfs. */
  private static final int STATFS_BYTES = 256;

  private final int fd;
  private volatile boolean closed;

  /** Answers of a file system to a read that must not wait. */
  private enum Cache {
    /** The cached bytes, or EAGAIN. */
    TOLD,
    /** All bytes: they lie in memory. */
    ALL,
    /** An error, as from overlayfs, but mincore(2) still reports the pages. */
    PAGES_ONLY,
    /** An error, as from FUSE, NFS, older kernels and older C libraries. */
    UNKNOWN
  }

  private final Cache cache;

  private FileFd(int fd) {
    this.fd = fd;
    this.cache = cache();
  }

  private Cache cache() {
    try (Arena arena = Arena.ofConfined()) {
      try {
        preadv2(BEHIND_ALL, arena.allocate(1), arena);
        return Cache.TOLD;
      } catch (VerbsException e) {
        if (!CANNOT_TELL.contains(e.errno())) {
          return Cache.TOLD;
        }
      }
      MemorySegment stat = arena.allocate(STATFS_BYTES, Long.BYTES);
      FSTATFS.call(fd, stat);
      long magic = stat.get(JAVA_LONG, 0);
      if (magic == TMPFS_MAGIC) {
        return Cache.ALL;
      }
      return magic == OVERLAYFS_MAGIC ? Cache.PAGES_ONLY : Cache.UNKNOWN;
    } catch (VerbsException _) {
      return Cache.UNKNOWN;
    }
  }

  /** Opens a file. Null if that fails or native access is not allowed: Java may still open it. */
  public static @Nullable FileFd tryOpen(Path file) {
    return tryOpen(file, 0);
  }

  /** Opens a file that may be a pipe, without waiting for its writer. Null as the other method. */
  public static @Nullable FileFd tryOpenUntrusted(Path file) {
    return tryOpen(file, O_NONBLOCK);
  }

  private static @Nullable FileFd tryOpen(Path file, int flags) {
    if (!FileFd.class.getModule().isNativeAccessEnabled()) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      return new FileFd(OPEN.call(CString.allocate(arena, file.toString()), O_CLOEXEC | flags));
    } catch (VerbsException _) {
      return null;
    }
  }

  /**
   * Reads some bytes, as a channel does.
   *
   * @param cached true to read cached bytes only; without {@link #tellsCached} the read waits for
   *     the disk nevertheless
   * @return number of bytes; 0 if the page cache has none; -1 at the file's end
   */
  public int read(long position, ByteBuffer target, boolean cached) throws VerbsException {
    if (closed) {
      throw new VerbsException("read", VerbsException.EINVAL, "the file is closed");
    }
    if (!target.isDirect()) {
      return readHeap(position, target, cached);
    }
    MemorySegment memory = MemorySegment.ofBuffer(target);
    int count = cached && cache == Cache.TOLD ? readCached(position, memory) : -1;
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

  /**
   * Reads cached bytes.
   *
   * @return number of bytes; 0 if the page cache has none; -1 at the file's end and for an error,
   *     which pread(2) finds again
   */
  private int readCached(long position, MemorySegment memory) {
    try (Arena arena = Arena.ofConfined()) {
      int count = preadv2(position, memory, arena);
      return count == 0 ? -1 : count;
    } catch (VerbsException e) {
      return e.errno() == VerbsException.EAGAIN ? 0 : -1;
    }
  }

  private int preadv2(long position, MemorySegment memory, Arena arena) throws VerbsException {
    MemorySegment iov = IOVEC.allocate(arena);
    IOVEC.set(iov, "iov_base", memory);
    IOVEC.set(iov, "iov_len", memory.byteSize());
    return Math.toIntExact((long) PREADV2.invoke(fd, iov, 1, position, RWF_NOWAIT));
  }

  /** Tells if a read of cached bytes never waits for the disk. */
  public boolean tellsCached() {
    return cache == Cache.TOLD || cache == Cache.ALL;
  }

  /** Tells if {@link #cachedBytes} works. */
  public boolean tellsPages() {
    return cache != Cache.UNKNOWN;
  }

  /**
   * Counts the bytes from a position on that the page cache has, up to the first byte that it lacks
   * (mincore(2)). The kernel tells only a process that may write to the file; to any other process
   * it reports every page as cached.
   *
   * @param bytes the limit
   * @return 0 also if the kernel cannot be asked
   */
  public int cachedBytes(long position, int bytes) {
    if (closed || cache == Cache.UNKNOWN) {
      return 0;
    }
    if (cache == Cache.ALL) {
      return bytes;
    }
    try (Arena arena = Arena.ofConfined()) {
      long from = position - position % PageSize.BYTES;
      long length = position + bytes - from;
      MemorySegment pages = arena.allocate(PageSize.roundUp(length) / PageSize.BYTES);
      long mapping = (long) MMAP.invoke(0L, length, PROT_NONE, MAP_SHARED, fd, from);
      try {
        MINCORE.call(mapping, length, pages);
      } finally {
        MUNMAP.call(mapping, length);
      }
      long cached = residentPages(pages) * PageSize.BYTES - (position - from);
      return Math.clamp(cached, 0, bytes);
    } catch (VerbsException _) {
      return 0;
    }
  }

  private static long residentPages(MemorySegment pages) {
    long page = 0;
    while (page < pages.byteSize() && (pages.get(JAVA_BYTE, page) & 1) != 0) {
      page++;
    }
    return page;
  }

  /** Returns a path of the open file, valid until close even if it is renamed or deleted. */
  public Path link() {
    return Path.of("/proc/self/fd/" + fd);
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
