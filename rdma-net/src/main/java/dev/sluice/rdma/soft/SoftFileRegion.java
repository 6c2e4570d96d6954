package dev.sluice.rdma.soft;

import dev.sluice.rdma.AccessFlag;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.util.EnumSet;

/**
 * A registered file, which it closes: peers READ it at addresses that are no memory's, and nothing
 * else can be done with it. It is read on the event loop alone, which nobody interrupts: that would
 * close it.
 */
final class SoftFileRegion extends SoftRegion {
  private final FileChannel file;

  SoftFileRegion(SoftProtectionDomain domain, FileChannel file, long bytes) {
    super(
        domain, domain.device().nextFileAddress(bytes), bytes, EnumSet.of(AccessFlag.REMOTE_READ));
    this.file = file;
  }

  @Override
  void send(long from, int bytes, FrameBatch batch) throws IOException {
    batch.add(this, from, bytes);
  }

  @Override
  ByteBuffer copy(long from, int bytes) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate(bytes);
    read(from, copy);
    return copy.flip();
  }

  /**
   * Fills the buffer.
   *
   * @throws EOFException when the file has become shorter
   */
  void read(long from, ByteBuffer target) throws IOException {
    long position = from - address();
    while (target.hasRemaining()) {
      int count = file.read(target, position);
      if (count < 0) {
        throw new EOFException(this + " ends at " + position);
      }
      position += count;
    }
  }

  /**
   * Sends bytes without a copy of them in this process.
   *
   * @return how many the socket has taken
   * @throws EOFException when the file has become shorter
   */
  int transfer(long from, int bytes, WritableByteChannel socket) throws IOException {
    int sent = (int) file.transferTo(from - address(), bytes, socket);
    if (sent == 0) {
      requireBytes(from, bytes); // else the socket is full
    }
    return sent;
  }

  /**
   * @throws EOFException when the file has become shorter
   */
  void requireBytes(long from, int bytes) throws IOException {
    long size = file.size();
    if (size < from - address() + bytes) {
      throw new EOFException(this + " ends at " + size);
    }
  }

  @Override
  void release() {
    Sockets.close(file);
  }
}
