// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.FileRegion;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Data file of a map output, as a region for peers and as a source for this process's tasks. {@link
 * DataFile} makes it when it is registered, {@code ShuffleOutputs} when it is not. The {@code
 * MapOutput} copies from it on any thread, and closes it with the shuffle's lock held. Closing ends
 * READs; mapped memory belongs to the {@code ShuffleMemory}, which unmaps it later.
 */
public sealed interface MapOutputData extends AutoCloseable {
  /** Returns the region for peers; at address 0 if the file is not registered. */
  RemoteRegion remote();

  /**
   * Copies bytes of the file. Any thread, which may be interrupted; the caller holds a reference to
   * the shuffle's memory.
   *
   * @throws InternalError if the file under a mapping has become shorter, or its disk fails
   * @throws IOException if a file that is not mapped is closed, gone or shorter, or its disk fails
   */
  void copy(long position, byte[] target, int offset, int length) throws IOException;

  /** Ends READs: no peer READs the file once this has returned. Idempotent. */
  @Override
  void close();

  /** A file that is mapped to memory of the shuffle, which unmaps it. */
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

  /** A file that stays open as long as it is registered, and is closed by its region. */
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

  /** A file that is empty, or that {@link OpenFiles} opens while it is read. */
  final class Unregistered implements MapOutputData {
    private final OpenFiles files;
    private final Path file;
    private final FileGuard guard;
    private final long length;

    public Unregistered(OpenFiles files, Path file, FileGuard guard, long length) {
      this.files = files;
      this.file = file;
      this.guard = guard;
      this.length = length;
    }

    @Override
    public RemoteRegion remote() {
      return MapOutputHeader.unregistered(length);
    }

    @Override
    public void copy(long position, byte[] target, int offset, int count) throws IOException {
      if (count > 0) { // else there may be no file
        files.read(this, file, guard, position, target, offset, count);
      }
    }

    @Override
    public void close() {}
  }
}
