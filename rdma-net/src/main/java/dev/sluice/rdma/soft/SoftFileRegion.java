package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.file.SharedFile;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A registered file: peers READ it at addresses that are no memory's, and nothing else can be done
 * with it. Event loops use its channel, everybody else the file itself. Closed by whoever is the
 * last to use the file, so that the end of the region waits for no disk.
 */
final class SoftFileRegion extends SoftRegion implements FileRegion {
  private final FileChannel channel;
  private final SharedFile file;

  /**
   * The region itself, until it is closed, threads that read, and batches; at 0 the file closes.
   */
  private final AtomicInteger users = new AtomicInteger(1);

  SoftFileRegion(SoftProtectionDomain domain, RandomAccessFile file, long bytes) {
    super(
        domain, domain.device().nextFileAddress(bytes), bytes, EnumSet.of(AccessFlag.REMOTE_READ));
    this.channel = file.getChannel();
    this.file = new SharedFile(file, domain.device().readAhead());
  }

  @Override
  void send(long from, int bytes, FrameBatch batch) throws IOException {
    batch.add(this, from, bytes);
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

  /**
   * Fills the buffer. On the event loop.
   *
   * @throws EOFException when the file has become shorter
   */
  void read(long from, ByteBuffer target) throws IOException {
    file.read(from - address(), target);
  }

  /**
   * Sends bytes without a copy of them in this process. On the event loop.
   *
   * @return how many the socket has taken
   * @throws EOFException when the file has become shorter
   */
  int transfer(long from, int bytes, WritableByteChannel socket) throws IOException {
    int sent = (int) channel.transferTo(from - address(), bytes, socket);
    if (sent == 0) {
      requireBytes(from, bytes); // else the socket is full
    }
    return sent;
  }

  /**
   * @throws EOFException when the file has become shorter
   */
  void requireBytes(long from, int bytes) throws IOException {
    long size = channel.size();
    if (size < from - address() + bytes) {
      throw new EOFException(this + " ends at " + size);
    }
  }

  /**
   * The file stays open until {@link #unuse}.
   *
   * @throws IOException when it is closed
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
