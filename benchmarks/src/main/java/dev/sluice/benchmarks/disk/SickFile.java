// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.disk;

import dev.sluice.rdma.file.DiskFile;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A file on a disk that is slow or hangs, with no byte in the page cache. The provider's threads of
 * that disk read it; its region closes it. {@link DiskPeers} heals it first, on its own thread,
 * since closing waits for the reads.
 */
final class SickFile extends DiskFile {
  private static final long SLOW_BYTES_A_SECOND = 4_000_000;

  /** Device number that no file system has, so that the disk gets its own threads. */
  private static final long DISK = 1L << 40;

  /** Kinds of a sick disk. */
  enum Illness {
    /** It reads 4 MB/s. */
    SLOW,
    /** It answers no read. */
    HANGING
  }

  private final Illness illness;
  private final CountDownLatch healed = new CountDownLatch(1);

  /** Time at which the disk has read all requested bytes. Guarded by this. */
  private long idleNanos = System.nanoTime();

  SickFile(Path path, Illness illness) throws IOException {
    super(new RandomAccessFile(path.toFile(), "r"));
    this.illness = illness;
  }

  /** Ends every wait and removes the limit of the disk's speed. */
  void heal() {
    healed.countDown();
  }

  @Override
  public long disk() {
    return DISK + illness.ordinal();
  }

  @Override
  public boolean tellsCached() {
    return true;
  }

  @Override
  public int cachedBytes(long position, int bytes) {
    return 0;
  }

  @Override
  public int read(long position, ByteBuffer target, boolean cached) throws IOException {
    if (cached) {
      return 0;
    }
    try {
      if (illness == Illness.SLOW) {
        boolean _ = healed.await(nanosFor(target.remaining()), TimeUnit.NANOSECONDS);
      } else {
        healed.await();
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    return super.read(position, target, false);
  }

  private synchronized long nanosFor(int bytes) {
    long now = System.nanoTime();
    long took = TimeUnit.SECONDS.toNanos(bytes) / SLOW_BYTES_A_SECOND;
    idleNanos = took + (idleNanos - now > 0 ? idleNanos : now);
    return idleNanos - now;
  }
}
