package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** A data file: what peers READ, if it is registered, and how this process's own tasks read it. */
sealed interface MapOutputData extends AutoCloseable {
  /** At address 0 where it is not registered. */
  RemoteRegion remote();

  /**
   * Copies bytes of the file. Any thread, which may be interrupted; the caller has a reference to
   * the shuffle's memory.
   *
   * @throws InternalError when the file under a mapping has become shorter, or its disk fails
   * @throws IOException when a file that is not mapped is closed, gone or shorter, or its disk
   *     fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException;

  /** No peer READs it once this has returned. Idempotent. */
  @Override
  void close();

  /** Its bytes are memory of the shuffle's, which unmaps it. */
  record Mapped(MemorySegment bytes, MemoryRegion region) implements MapOutputData {
    @Override
    public RemoteRegion remote() {
      return region.toRemote();
    }

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
  record Open(FileRegion region) implements MapOutputData {
    @Override
    public RemoteRegion remote() {
      return region.toRemote();
    }

    @Override
    public void copy(long position, byte[] target, int offset, int length) throws IOException {
      region.copy(position, target, offset, length);
    }

    @Override
    public void close() {
      region.close();
    }
  }

  /** It is empty, or one of the open files while somebody reads it. */
  final class Unregistered implements MapOutputData {
    private final OpenFiles files;
    private final Path file;
    private final long length;

    Unregistered(OpenFiles files, Path file, long length) {
      this.files = files;
      this.file = file;
      this.length = length;
    }

    @Override
    public RemoteRegion remote() {
      return MapOutputHeader.unregistered(length);
    }

    @Override
    public void copy(long position, byte[] target, int offset, int count) throws IOException {
      if (count > 0) { // else there may be no file
        files.read(this, file, position, target, offset, count);
      }
    }

    @Override
    public void close() {}
  }
}
