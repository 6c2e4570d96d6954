package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import dev.sluice.rdma.ProtectionDomain;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A data file on its way into a memory region: of a {@link Registration}, which closes it when it
 * is registered; where the region is the open file, it is the region's from then on.
 *
 * <p>Its length is compared with what the index says when it is opened, right before its bytes are
 * mapped, because mapping beyond the end of a file makes it longer if the mapping is for writing,
 * and right afterwards, because an access to a mapping beyond the end of its file is a SIGBUS.
 */
final class DataFile implements Closeable {
  private final Path path;
  private final long bytes;
  private final RegistrationForm form;

  /** Null where it is to be mapped. */
  private final RandomAccessFile file;

  private final FileChannel channel;
  private boolean isRegions;

  private DataFile(Path path, long bytes, RegistrationForm form) throws IOException {
    this.path = path;
    this.bytes = bytes;
    this.form = form;
    file = form.isMapping() ? null : openFile(path);
    channel = file == null ? FileChannel.open(path, form.openOptions()) : file.getChannel();
  }

  /** To a RandomAccessFile whatever keeps it from being opened is that it is not found. */
  private static RandomAccessFile openFile(Path path) throws IOException {
    try {
      return new RandomAccessFile(path.toFile(), "r");
    } catch (FileNotFoundException e) {
      throw Files.exists(path)
          ? new IOException(e.getMessage(), e)
          : new NoSuchFileException(path.toString());
    }
  }

  /**
   * @param bytes what the index says, at least 1
   * @throws InconsistentFilesException when the file has another length
   */
  static DataFile open(Path path, long bytes, RegistrationForm form) throws IOException {
    DataFile opened = new DataFile(path, bytes, form);
    try {
      opened.checkLength();
      return opened;
    } catch (IOException e) {
      opened.close();
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

  /** Whether it is to be mapped, or registered as it is. */
  boolean isMapping() {
    return form.isMapping();
  }

  /** The file's bytes, mapped for as long as the arena lives. */
  MemorySegment map(Arena arena) throws IOException {
    checkLength();
    return form.map(channel, bytes, arena);
  }

  /** Registers what {@link #map} gave, for READs only. */
  MapOutputData register(ProtectionDomain domain, MemorySegment memory) throws IOException {
    checkLength();
    return new MapOutputData.Mapped(memory, domain.register(memory, form.access()));
  }

  /** Registers the file as it is, for READs only. */
  MapOutputData register(ProtectionDomain domain) throws IOException {
    checkLength();
    MapOutputData data = new MapOutputData.Open(domain.registerFile(file, bytes));
    isRegions = true;
    return data;
  }

  private void checkLength() throws IOException {
    checkLength(path, channel.size(), bytes);
  }

  /** What it takes once it is registered. */
  Cost cost() {
    return form.cost(bytes);
  }

  /** Counts what its registration cost. */
  void count(RegistryCounters counters) {
    form.countBytes(counters, bytes);
  }

  @Override
  public void close() throws IOException {
    if (!isRegions) {
      channel.close();
    }
  }
}
