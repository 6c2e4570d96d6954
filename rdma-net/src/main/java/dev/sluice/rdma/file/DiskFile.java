// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.file;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.StoredFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file that is open for reading twice. The kernel sends bytes from its channel to a socket. Its
 * descriptor tells which bytes the page cache has. Any thread. Its opener, or the region that takes
 * it over, closes it after the last read. Not final, so that tests can simulate disks that hang.
 */
public class DiskFile implements StoredFile {
  /** Disk number of files whose disk is unknown. */
  private static final long UNKNOWN_DISK = -1;

  private final RandomAccessFile file;

  /** Null if the file cannot be opened by descriptor. */
  private final @Nullable FileFd fd;

  private final long disk;

  /** Null before the first question for cached pages, which few small files get. */
  private volatile @Nullable Boolean tellsPages;

  private DiskFile(RandomAccessFile file, @Nullable FileFd fd, long disk) {
    this.file = file;
    this.fd = fd;
    this.disk = disk;
  }

  /** Creates a file whose disk and cached pages are unknown. */
  public DiskFile(RandomAccessFile file) {
    this(file, null, UNKNOWN_DISK);
  }

  /**
   * Opens a regular file.
   *
   * @throws FileNotFoundException if it cannot be opened, for any reason
   * @throws IOException if it is not a regular file
   */
  public static DiskFile open(Path path) throws IOException {
    FileFd fd = FileFd.tryOpen(path);
    if (fd != null) {
      try {
        return open(path, fd);
      } catch (NoSuchFileException e) { // There is no /proc.
        fd.close();
      } catch (IOException | RuntimeException | Error e) {
        fd.close();
        throw e;
      }
    }
    return new DiskFile(new RandomAccessFile(path.toFile(), "r"));
  }

  private static DiskFile open(Path path, FileFd fd) throws IOException {
    Path same = fd.link(); // The path may name another file by now.
    Map<String, Object> attributes = Files.readAttributes(same, "unix:dev,isRegularFile");
    if (!Boolean.TRUE.equals(attributes.get("isRegularFile"))) {
      throw new IOException(path + " is not a regular file");
    }
    long disk = ((Number) requireNonNull(attributes.get("dev"))).longValue();
    return new DiskFile(new RandomAccessFile(same.toFile(), "r"), fd, disk);
  }

  @Override
  public long disk() {
    return disk;
  }

  /** Returns the channel. It is closed if a thread is interrupted while using it. */
  private FileChannel channel() {
    return file.getChannel();
  }

  @Override
  public long transferTo(long position, long bytes, WritableByteChannel target) throws IOException {
    return channel().transferTo(position, bytes, target);
  }

  @Override
  public long size() throws IOException {
    return channel().size();
  }

  @Override
  public boolean tellsCached() {
    return fd != null && fd.tellsCached();
  }

  @Override
  public int cachedBytes(long position, int bytes) {
    return fd != null && tellsPages(fd) ? fd.cachedBytes(position, bytes) : 0;
  }

  /** The kernel reports pages only to a process that may write to the file: mincore(2). */
  private boolean tellsPages(FileFd opened) {
    Boolean known = tellsPages;
    if (known == null) {
      known = opened.tellsPages() && Files.isWritable(opened.link());
      tellsPages = known;
    }
    return known;
  }

  @Override
  public int read(long position, ByteBuffer target, boolean cached) throws IOException {
    return fd == null ? channel().read(target, position) : fd.read(position, target, cached);
  }

  @Override
  public int readArray(long position, ByteBuffer target, boolean cached) throws IOException {
    if (fd != null) {
      return fd.read(position, target, cached);
    }
    file.seek(position);
    int count =
        file.read(target.array(), target.arrayOffset() + target.position(), target.remaining());
    target.position(target.position() + Math.max(0, count));
    return count;
  }

  @Override
  public void close() throws IOException {
    try (file) {
      if (fd != null) {
        fd.close();
      }
    }
  }
}
