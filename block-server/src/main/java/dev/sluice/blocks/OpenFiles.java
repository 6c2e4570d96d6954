package dev.sluice.blocks;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Data files that are read lately, so that a reduce task's block of each does not have it opened
 * anew. A file that nobody reads is closed after a moment, by {@link #expire}: what Spark has
 * deleted gives back its space only then. Any thread; the stager makes it and closes it: files that
 * are still being read then are closed by their last readers.
 */
final class OpenFiles implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

  static final long IDLE_NANOS = 2_000_000_000L;

  /** Descriptors at most, beside those of files that are being read. */
  private static final int MAX_FILES = 1024;

  private static final class OpenFile {
    final FileChannel channel;
    int readers;
    long usedNanos;

    OpenFile(FileChannel channel) {
      this.channel = channel;
    }
  }

  private final LongSupplier nanoClock;

  /** By registration and not by name: a file that was replaced is another one. Guarded by this. */
  private final Map<MapOutput, OpenFile> files = new LinkedHashMap<>(16, 0.75f, true);

  /** None once it is closed. Guarded by this. */
  private int maxFiles = MAX_FILES;

  OpenFiles(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * Fills the buffer with the file's bytes from {@code position} on. Blocks as its disk does. For
   * threads that nobody interrupts, which closes a channel for all.
   *
   * @throws EOFException when the file is shorter
   */
  void read(MapOutput output, long position, ByteBuffer target) throws IOException {
    OpenFile file = open(output);
    try {
      long at = position;
      while (target.hasRemaining()) {
        int count = file.channel.read(target, at);
        if (count < 0) {
          throw new EOFException(output + " ends at " + at);
        }
        at += count;
      }
    } finally {
      release(file);
    }
  }

  private OpenFile open(MapOutput output) throws IOException {
    synchronized (this) {
      OpenFile known = files.get(output);
      if (known != null) {
        known.readers++;
        return known;
      }
    }
    OpenFile opened = new OpenFile(FileChannel.open(output.file(), StandardOpenOption.READ));
    OpenFile file;
    synchronized (this) {
      file = files.merge(output, opened, (first, _) -> first);
      file.readers++;
    }
    if (file != opened) {
      close(opened);
    }
    return file;
  }

  private void release(OpenFile file) {
    int most;
    boolean many;
    synchronized (this) {
      file.readers--;
      file.usedNanos = nanoClock.getAsLong();
      most = maxFiles;
      many = files.size() > most;
    }
    if (many) {
      close(most, 0);
    }
  }

  /** Closes what nobody has read for a moment. */
  void expire() {
    close(0, IDLE_NANOS);
  }

  /** The least recently read ones that are above a number and have been idle for so long. */
  private void close(int above, long idleNanos) {
    List<OpenFile> idle = new ArrayList<>();
    synchronized (this) {
      long now = nanoClock.getAsLong();
      for (Iterator<OpenFile> i = files.values().iterator(); i.hasNext(); ) {
        OpenFile file = i.next();
        if (files.size() <= above) {
          break;
        }
        if (file.readers == 0 && now - file.usedNanos >= idleNanos) {
          i.remove();
          idle.add(file);
        }
      }
    }
    idle.forEach(OpenFiles::close);
  }

  private static void close(OpenFile file) {
    try {
      file.channel.close();
    } catch (IOException e) {
      LOG.debug("A data file could not be closed", e);
    }
  }

  /** Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      maxFiles = 0;
    }
    close(0, 0);
  }
}
