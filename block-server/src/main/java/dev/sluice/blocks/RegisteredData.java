package dev.sluice.blocks;

import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A registered data file: what peers READ, and how this process's own tasks read it. */
sealed interface RegisteredData extends AutoCloseable {
  MemoryRegion region();

  /**
   * Copies bytes of the file. Any thread, which may be interrupted; the caller has a reference to
   * the shuffle's memory.
   *
   * @throws InternalError when the file under a mapping has become shorter, or its disk fails
   * @throws IOException when an open file is closed or has become shorter, or its disk fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException;

  /** No peer READs it once this has returned. Idempotent. */
  @Override
  void close();

  /** Its bytes are memory of the shuffle's, which unmaps it. */
  record Mapped(MemorySegment bytes, MemoryRegion region) implements RegisteredData {
    @Override
    public void copy(long position, byte[] target, int offset, int length) {
      MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, position, target, offset, length);
    }

    @Override
    public void close() {
      region.close();
    }
  }

  /** It stays open as long as it is registered, and is closed by its region. */
  record Open(FileRegion region) implements RegisteredData {
    @Override
    public void copy(long position, byte[] target, int offset, int length) throws IOException {
      region.copy(position, target, offset, length);
    }

    @Override
    public void close() {
      region.close();
    }
  }
}
