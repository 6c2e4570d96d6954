package dev.sluice.blocks;

import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A data file on its way into a memory region. Lives on the thread that registers it, which closes
 * it when it is registered; the region does not need it.
 *
 * <p>Its length is compared with what the index says when it is opened, right before its bytes are
 * mapped, because mapping beyond the end of a file makes it longer if the mapping is for writing,
 * and right afterwards, because an access to a mapping beyond the end of its file is a SIGBUS.
 */
final class DataFile implements Closeable {
  private final Path path;
  private final long bytes;
  private final RegistrationForm form;
  private final FileChannel channel;

  private DataFile(Path path, long bytes, RegistrationForm form, FileChannel channel) {
    this.path = path;
    this.bytes = bytes;
    this.form = form;
    this.channel = channel;
  }

  /**
   * @param bytes what the index says, at least 1
   * @throws InconsistentFilesException when the file has another length
   */
  static DataFile open(Path path, long bytes, RegistrationForm form) throws IOException {
    FileChannel channel = FileChannel.open(path, form.openOptions());
    try {
      DataFile file = new DataFile(path, bytes, form, channel);
      file.checkLength();
      return file;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  static void checkLength(Path path, long bytes, long indexedBytes)
      throws InconsistentFilesException {
    if (bytes != indexedBytes) {
      throw new InconsistentFilesException(
          "%s has %d bytes, its index says %d".formatted(path, bytes, indexedBytes));
    }
  }

  /** The file's bytes, mapped for as long as the arena lives. */
  MemorySegment map(Arena arena) throws IOException {
    checkLength();
    return form.map(channel, bytes, arena);
  }

  /** Registers what {@link #map} gave, for READs only. */
  MemoryRegion register(ProtectionDomain domain, MemorySegment memory) throws IOException {
    checkLength();
    return domain.register(memory, form.access());
  }

  private void checkLength() throws IOException {
    checkLength(path, channel.size(), bytes);
  }

  /** Counts what its registration cost. */
  void count(RegistryCounters counters) {
    form.countBytes(counters, bytes);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
