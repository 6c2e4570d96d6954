// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.StoredFile;
import dev.sluice.rdma.file.SharedFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A registered file. {@link SoftProtectionDomain} makes it. Peers READ it at addresses outside of
 * all memory; no other access is possible. Event loops send the bytes that the page cache has;
 * {@link DiskReaders} read the others. The last user closes the file, so that closing the region
 * waits for no disk.
 */
final class SoftFileRegion extends SoftRegion implements FileRegion {
  private final StoredFile stored;
  private final SharedFile file;

  /**
   * Number of users: the region itself until it is closed, reading threads, and batches. The file
   * closes at 0.
   */
  private final AtomicInteger users = new AtomicInteger(1);

  SoftFileRegion(SoftProtectionDomain domain, StoredFile file, long bytes) {
    super(
        domain, domain.device().nextFileAddress(bytes), bytes, EnumSet.of(AccessFlag.REMOTE_READ));
    this.stored = file;
    this.file = new SharedFile(file, domain.device().readAhead());
  }

  @Override
  int send(long from, int bytes, FrameBatch batch) throws IOException {
    return batch.add(this, from, bytes);
  }

  @Override
  ByteBuffer copy(long from, int bytes) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(bytes);
    file.readChannel(from - address(), copy);
    return copy.flip();
  }

  @Override
  public void copy(long position, byte[] target, int offset, int length) throws IOException {
    use();
    try {
      file.read(position, target, offset, length);
    } finally {
      unuse();
    }
  }

  /** Number of the disk that the file is on. */
  long disk() {
    return stored.disk();
  }

  /**
   * Fills the buffer with cached bytes. On the event loop.
   *
   * @return false if the page cache lacks some of them, or that is unknown
   * @throws EOFException if the file has become shorter
   */
  boolean readCached(long from, ByteBuffer target) throws IOException {
    if (stored.tellsCached()) {
      return file.read(from - address(), target, true);
    }
    int bytes = target.remaining();
    if (bytes == 0 || cachedBytes(from, bytes) < bytes) {
      return false;
    }
    file.readChannel(from - address(), target); // reads no uncached bytes ahead
    return true;
  }

  /** Counts the cached bytes, which {@link #transfer} can send without waiting for a disk. */
  int cachedBytes(long from, int bytes) {
    return stored.cachedBytes(from - address(), bytes);
  }

  /**
   * Fills the buffer, and waits for the disk. Not on the event loop.
   *
   * @throws EOFException if the file has become shorter
   */
  void read(long from, ByteBuffer target) throws IOException {
    file.read(from - address(), target);
  }

  /**
   * Sends bytes without copying them into this process. On the event loop.
   *
   * @return number of bytes that the socket has taken
   * @throws EOFException if the file has become shorter
   */
  int transfer(long from, int bytes, WritableByteChannel socket) throws IOException {
    int sent = (int) stored.transferTo(from - address(), bytes, socket);
    if (sent == 0) {
      requireBytes(from, bytes); // otherwise the socket is full
    }
    return sent;
  }

  /**
   * @throws EOFException if the file has become shorter
   */
  void requireBytes(long from, int bytes) throws IOException {
    long size = stored.size();
    if (size < from - address() + bytes) {
      throw new EOFException(
          this + " reaches beyond the end of its file, which has " + size + " bytes");
    }
  }

  /**
   * Keeps the file open until {@link #unuse}.
   *
   * @throws IOException if it is closed
   */
  void use() throws IOException {
    if (users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
      throw new IOException(this + " is closed");
    }
  }

  void unuse() {
    if (users.decrementAndGet() == 0) {
      Sockets.close(file);
    }
  }

  @Override
  void release() {
    unuse();
  }
}
