// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.directory.DataFile;
import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistrationUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pending registration of a map output. The {@link RegistrationQueue} creates it. It is
 * {@linkplain #open opened} on a thread that may wait for disks and holds no lock. The same thread
 * has it registered. The queue closes it, whether it succeeded, failed or was cancelled.
 */
final class PendingRegistration implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PendingRegistration.class);

  /**
   * Files that fit together.
   *
   * @param data null if all partitions are empty, or nothing is to be registered
   * @param registers true to register the map output, false to stage it
   */
  record Found(
      MapOutputFiles.Files files,
      MapOutputIndex index,
      @Nullable DataFile data,
      boolean registers) {}

  private final ShuffleOutputs shuffle;
  private final long mapId;

  /** Null to find them. */
  private final MapOutputFiles.@Nullable Files known;

  /** Null before {@link #open}, and if that failed. */
  private @Nullable Found found;

  /** Reason why {@link #open} failed; null if it did not. */
  private @Nullable Throwable failure;

  /**
   * @param known the map output's files; null to find them
   */
  PendingRegistration(ShuffleOutputs shuffle, long mapId, MapOutputFiles.@Nullable Files known) {
    this.shuffle = shuffle;
    this.mapId = mapId;
    this.known = known;
  }

  ShuffleOutputs shuffle() {
    return shuffle;
  }

  long mapId() {
    return mapId;
  }

  /** Finds and opens the files; waits for their disks. {@link #found} throws its exception. */
  void open(MapOutputFiles outputs, LocalDirectories directories, long nowMs) {
    try {
      found = find(outputs, directories, nowMs);
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    }
  }

  private Found find(MapOutputFiles outputs, LocalDirectories directories, long nowMs)
      throws IOException {
    MapOutputFiles.Files files = known != null ? known : outputs.find(shuffle.id(), mapId);
    if (files == null) {
      throw new NoSuchFileException("map output " + mapId + " of shuffle " + shuffle.id());
    }
    MapOutputIndex index = MapOutputIndex.read(files);
    if (index.dataBytes() > 0) {
      try {
        RegistrationMethod form = directories.form(files.data(), nowMs);
        DataFile opened = DataFile.open(files.data(), files.guard(), index.dataBytes(), form);
        return new Found(files, index, opened, true);
      } catch (RegistrationUnavailableException | OutOfMemoryError e) {
        LOG.debug("{} cannot be registered and will be staged", this, e);
      }
    }
    checkLength(files, index);
    return new Found(files, index, null, index.dataBytes() == 0);
  }

  /** Spark writes no data file if every partition is empty. */
  private static void checkLength(MapOutputFiles.Files files, MapOutputIndex index)
      throws IOException {
    Path data = files.data();
    if (index.dataBytes() > 0 || Files.exists(data)) {
      try (FileGuard.Guarded guarded = files.guard().open(data)) {
        DataFile.checkLength(data, Files.size(guarded.path()), index.dataBytes());
      }
    }
  }

  /** Returns the files once {@link #open} has returned, or throws its exception. */
  Found found() throws IOException {
    return switch (failure) {
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> requireNonNull(found);
    };
  }

  /** Closes the data file unless its region owns it. */
  @Override
  public void close() {
    DataFile data = found == null ? null : found.data();
    try {
      if (data != null) {
        data.close();
      }
    } catch (IOException e) {
      LOG.debug("Closing the data file of {} failed", this, e);
    }
  }

  @Override
  public String toString() {
    return "map output " + mapId + " of shuffle " + shuffle.id();
  }
}
