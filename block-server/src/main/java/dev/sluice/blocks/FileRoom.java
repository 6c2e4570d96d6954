package dev.sluice.blocks;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many more files a process may keep open, for a moment after they were read: all its {@link
 * OpenFiles} together, as those of a node's applications. Those that are being read may be beyond
 * it. Any thread; nothing to close.
 */
public final class FileRoom {
  private static final int MOST = 1024;

  /** Of the process's descriptors: sockets, and what is registered as open files, want most. */
  private static final int PARTS = 8;

  private final AtomicInteger files;

  public FileRoom() {
    this(Math.min(MOST, RegionLimit.FILES.kernels(Path.of("/")) / PARTS));
  }

  FileRoom(int files) {
    this.files = new AtomicInteger(files);
  }

  void opened() {
    files.decrementAndGet();
  }

  void closed() {
    files.incrementAndGet();
  }

  /** Whether more are open than may be. */
  boolean isShort() {
    return files.get() < 0;
  }
}
