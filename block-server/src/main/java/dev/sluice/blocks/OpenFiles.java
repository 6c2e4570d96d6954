package dev.sluice.blocks;

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
 * Data files that are read lately, by the stager and by this process's own tasks, so that a reduce
 * task's block of each does not have it opened anew; and small ones not read one by one ({@link
 * ReadAhead}: 8 MiB of heap at most). A file that nobody reads is closed after a moment, by {@link
 * #expire}: what Spark has deleted gives back its space only then. Any thread; the registry makes
 * it and closes it: files that are still being read then are closed by their last readers.
 */
final class OpenFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

  static final long IDLE_NANOS = 2_000_000_000L;

  private static final class OpenFile {
    final SharedFile file;
    int readers;
    long usedNanos;

    OpenFile(SharedFile file) {
      this.file = file;
    }
  }

  private final LongSupplier nanoClock;
  private final FileRoom room;
  private final ReadAhead ahead;

  /** By registration and not by name: a file that was replaced is another one. Guarded by this. */
  private final Map<MapOutputData, OpenFile> files = new LinkedHashMap<>(16, 0.75f, true);

  private volatile boolean closed;

  /**
   * @param room beyond which those that are not being read are closed at once
   */
  OpenFiles(LongSupplier nanoClock, FileRoom room) {
    this.nanoClock = nanoClock;
    this.room = room;
    this.ahead = new ReadAhead(nanoClock);
  }

  /**
   * Fills the buffer with the file's bytes from {@code position} on. For threads that nobody
   * interrupts.
   *
   * @param cached whether they are wanted only where the page cache has them all; else it blocks as
   *     the file's disk does, as it does where nobody can tell, and where it is not open
   * @return false where the page cache lacks some
   * @throws EOFException when the file is shorter
   */
  boolean read(MapOutput output, long position, ByteBuffer target, boolean cached)
      throws IOException {
    OpenFile opened = open(output.data(), output.file());
    try {
      return opened.file.read(position, target, cached);
    } finally {
      release(opened);
    }
  }

  /**
   * The same for any thread, which may be interrupted.
   *
   * @param data whose file it is
   */
  void read(MapOutputData data, Path file, long position, byte[] target, int offset, int length)
      throws IOException {
    OpenFile opened = open(data, file);
    try {
      opened.file.read(position, target, offset, length);
    } finally {
      release(opened);
    }
  }

  private OpenFile open(MapOutputData data, Path path) throws IOException {
    synchronized (this) {
      OpenFile known = files.get(data);
      if (known != null) {
        known.readers++;
        return known;
      }
    }
    OpenFile opened = new OpenFile(SharedFile.open(path, ahead));
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

  /** Closes what nobody has read for a moment. */
  void expire() {
    close(true, IDLE_NANOS);
  }

  /** Those that have been idle for so long: all, or the least recently read until there is room. */
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
      LOG.debug("A data file could not be closed", e);
    }
  }

  /** Idempotent. */
  @Override
  public void close() {
    closed = true;
    close(true, 0);
  }
}
