// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Number of files that a process may still keep open for a moment after they were read. All {@link
 * OpenFiles} of the process share it, such as those of a node daemon's applications. Files that are
 * being read may exceed it. {@link OpenFiles} counts each file once when it opens it, and once when
 * it closes it. Any thread; nothing to close.
 */
public final class OpenFileLimit {
  /** Cap where the descriptor limit is high. */
  private static final int MOST = 1024;

  /** Divisor of the process's descriptor limit: sockets and registered files need most of it. */
  private static final int PARTS = 8;

  private final AtomicInteger files;

  public OpenFileLimit() {
    this(Math.min(MOST, RegionLimit.FILES.kernels(Path.of("/")) / PARTS));
  }

  OpenFileLimit(int files) {
    this.files = new AtomicInteger(files);
  }

  void opened() {
    files.decrementAndGet();
  }

  void closed() {
    files.incrementAndGet();
  }

  /** Returns true if more files are open than may be. */
  boolean isShort() {
    return files.get() < 0;
  }
}
