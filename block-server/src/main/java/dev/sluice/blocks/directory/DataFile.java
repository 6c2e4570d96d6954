// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.StoredFile;
import dev.sluice.rdma.file.DiskFile;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * A data file that becomes a memory region. Its {@code PendingRegistration} opens it on a thread
 * that may wait for the disk, and closes it after registering it. If the region is the open file,
 * the region owns it from then on. {@code ShuffleOutputs} and {@link RegistrationProbe} register it
 * on the same thread.
 *
 * <p>The file's length is compared with the index three times: when the file is opened, right
 * before it is mapped and right afterwards. Access to a mapping beyond the end of its file is a
 * SIGBUS.
 */
public final class DataFile implements Closeable {
  private final Path path;
  private final long bytes;
  private final RegistrationMethod form;

  /** Null if the file is to be mapped. */
  private final @Nullable StoredFile file;

  /** Null if the file is not to be mapped. */
  private final @Nullable FileChannel channel;

  /** True once the region owns the open file, and so closes it. */
  private boolean isRegions;

  private DataFile(Path path, FileGuard guard, long bytes, RegistrationMethod form)
      throws IOException {
    this.path = path;
    this.bytes = bytes;
    this.form = form;
    try (FileGuard.Guarded guarded = guard.open(path)) {
      file = form.isMapping() ? null : openFile(guarded.path());
      channel = file == null ? FileChannel.open(guarded.path(), StandardOpenOption.READ) : null;
    }
  }

  /** Tells a missing file from other failures; Java throws FileNotFoundException for them all. */
  private static StoredFile openFile(Path path) throws IOException {
    try {
      return DiskFile.open(path);
    } catch (FileNotFoundException e) {
      throw Files.exists(path)
          ? new IOException(e.getMessage(), e)
          : new NoSuchFileException(path.toString());
    }
  }

  /** Opens a file of this process's user, as the other method does. */
  public static DataFile open(Path path, long bytes, RegistrationMethod form) throws IOException {
    return open(path, FileGuard.NONE, bytes, form);
  }

  /**
   * @param bytes length according to the index, at least 1
   * @throws InconsistentFilesException if the file has another length
   */
  public static DataFile open(Path path, FileGuard guard, long bytes, RegistrationMethod form)
      throws IOException {
    DataFile opened = new DataFile(path, guard, bytes, form);
    try {
      opened.checkLength();
      return opened;
    } catch (IOException e) {
      opened.close();
      throw e;
    }
  }

  public static void checkLength(Path path, long bytes, long indexedBytes)
      throws InconsistentFilesException {
    if (bytes != indexedBytes) {
      throw new InconsistentFilesException(
          "%s has %d bytes, but its index describes %d".formatted(path, bytes, indexedBytes));
    }
  }

  /** Returns true if the file is to be mapped, false if the open file is registered. */
  public boolean isMapping() {
    return form.isMapping();
  }

  /** Maps the file's bytes for as long as the arena lives. */
  public MemorySegment map(Arena arena) throws IOException {
    checkLength();
    return requireNonNull(channel).map(MapMode.READ_ONLY, 0, bytes, arena);
  }

  /** Registers the memory that {@link #map} returned, for READs only. */
  public MapOutputData register(ProtectionDomain domain, MemorySegment memory) throws IOException {
    checkLength();
    return new MapOutputData.Mapped(memory, domain.register(memory, form.access()));
  }

  /** Registers the open file, for READs only. */
  public MapOutputData register(ProtectionDomain domain) throws IOException {
    checkLength();
    MapOutputData data = new MapOutputData.Open(domain.registerFile(requireNonNull(file), bytes));
    isRegions = true;
    return data;
  }

  private void checkLength() throws IOException {
    checkLength(path, file != null ? file.size() : requireNonNull(channel).size(), bytes);
  }

  /** Returns its cost once it is registered. */
  public Cost cost() {
    return form.cost(bytes);
  }

  @Override
  public void close() throws IOException {
    if (channel != null) {
      channel.close();
    } else if (file != null && !isRegions) {
      file.close();
    }
  }
}
