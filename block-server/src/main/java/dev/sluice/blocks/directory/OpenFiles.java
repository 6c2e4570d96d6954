// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.directory.RegionLimit.OpenFileLimit;
import dev.sluice.rdma.file.ReadAhead;
import dev.sluice.rdma.file.SharedFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps data files open that the stager or this process's own tasks read lately, so that a reduce
 * task's block does not reopen them. Small pieces are read ahead ({@link ReadAhead}: 8 MiB of heap
 * at most). {@link #expire} closes a file that was not read for two seconds: only then does a file
 * that Spark has deleted give back its space. Any thread. The registry creates and closes it; files
 * still in use then are closed by their last readers. The lock is never held while a file is
 * opened, read or closed.
 */
public final class OpenFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

  static final long IDLE_NANOS = 2_000_000_000L;

  private static final class OpenFile {
    final SharedFile file;

    /** Guarded by the lock, as {@link #usedNanos} is. No file with readers is closed. */
    int readers;

    long usedNanos;

    OpenFile(SharedFile file) {
      this.file = file;
    }
  }

  private final LongSupplier nanoClock;
  private final OpenFileLimit room;
  private final ReadAhead ahead;

  /**
   * Keyed by registration and not by name: a replaced file is another one. Guarded by this. Counted
   * in {@link #room} while it is here.
   */
  private final Map<MapOutputData, OpenFile> files = new LinkedHashMap<>(16, 0.75f, true);

  private volatile boolean closed;

  /**
   * @param room limit, beyond which files that are not being read are closed at once
   */
  public OpenFiles(LongSupplier nanoClock, OpenFileLimit room) {
    this.nanoClock = nanoClock;
    this.room = room;
    this.ahead = new ReadAhead(nanoClock);
  }

  /**
   * Fills the buffer with the file's bytes from {@code position} on. Not for threads that may be
   * interrupted.
   *
   * @param data data of the map output that has the file
   * @param cached true to read only if the page cache has all bytes. The call still waits for the
   *     disk if the file is not open yet, or if its file system does not tell cached bytes
   * @return false if the page cache lacks some of the bytes
   * @throws EOFException if the file is shorter
   */
  public boolean read(
      MapOutputData data,
      Path file,
      FileGuard guard,
      long position,
      ByteBuffer target,
      boolean cached)
      throws IOException {
    OpenFile opened = open(data, file, guard);
    try {
      return opened.file.read(position, target, cached);
    } finally {
      release(opened);
    }
  }

  /**
   * Reads into an array. Any thread, which may be interrupted.
   *
   * @param data data of the map output that has the file
   */
  public void read(
      MapOutputData data,
      Path file,
      FileGuard guard,
      long position,
      byte[] target,
      int offset,
      int length)
      throws IOException {
    OpenFile opened = open(data, file, guard);
    try {
      opened.file.read(position, target, offset, length);
    } finally {
      release(opened);
    }
  }

  private OpenFile open(MapOutputData data, Path path, FileGuard guard) throws IOException {
    synchronized (this) {
      OpenFile known = files.get(data);
      if (known != null) {
        known.readers++;
        return known;
      }
    }
    OpenFile opened;
    try (FileGuard.Guarded guarded = guard.open(path)) {
      opened = new OpenFile(SharedFile.open(guarded.path(), ahead));
    }
    OpenFile file;
    synchronized (this) {
      file = files.merge(data, opened, (first, _) -> first);
      file.readers++;
    }
    if (file == opened) {
      room.opened();
    } else {
      close(opened);
    }
    return file;
  }

  private void release(OpenFile file) {
    synchronized (this) {
      file.readers--;
      file.usedNanos = nanoClock.getAsLong();
    }
    if (closed || room.isShort()) {
      close(closed, 0);
    }
  }

  /** Closes files that have not been read for {@link #IDLE_NANOS}. */
  public void expire() {
    close(true, IDLE_NANOS);
  }

  /** Closes files idle for so long: all, or the least recently read until there is room. */
  private void close(boolean all, long idleNanos) {
    List<OpenFile> idle = new ArrayList<>();
    synchronized (this) {
      long now = nanoClock.getAsLong();
      Iterator<OpenFile> eldest = files.values().iterator();
      while ((all || room.isShort()) && eldest.hasNext()) {
        OpenFile file = eldest.next();
        if (file.readers == 0 && now - file.usedNanos >= idleNanos) {
          eldest.remove();
          room.closed();
          idle.add(file);
        }
      }
    }
    idle.forEach(OpenFiles::close);
  }

  private static void close(OpenFile file) {
    try {
      file.file.close();
    } catch (IOException e) {
      LOG.debug("Closing a data file failed", e);
    }
  }

  /** Idempotent. */
  @Override
  public void close() {
    closed = true;
    close(true, 0);
  }
}
