// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pending registration of a map output. Its files are found and opened on a thread that may wait
 * for their disks and holds no lock. Then it is registered on the registry's thread. One thread at
 * a time uses it. {@link ShuffleOutputs#begin} creates it. The {@link MapOutputRegistry} closes
 * it, whether it succeeded, failed or was cancelled.
 */
final class PendingRegistration implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PendingRegistration.class);

  /** Finds and opens a map output's files. */
  interface Opening {
    Found found() throws IOException;
  }

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
  private final boolean served;

  /** Returns or throws the result of {@link #open}; null before. */
  private @Nullable Opening opened;

  /** Null if no file was opened. */
  private @Nullable DataFile data;

  /**
   * @param served true if peers may READ the map output here
   */
  PendingRegistration(ShuffleOutputs shuffle, long mapId, boolean served) {
    this.shuffle = shuffle;
    this.mapId = mapId;
    this.served = served;
  }

  ShuffleOutputs shuffle() {
    return shuffle;
  }

  long mapId() {
    return mapId;
  }

  boolean served() {
    return served;
  }

  /** Finds and opens the files; waits for their disks. {@link #found} throws its exception. */
  void open(Opening opening) {
    try {
      Found found = opening.found();
      data = found.data();
      opened = () -> found;
    } catch (IOException | RuntimeException | Error e) {
      opened =
          () -> {
            throw e;
          };
    }
  }

  /** Returns the files, once {@link #open} has returned. */
  Found found() throws IOException {
    return requireNonNull(opened).found();
  }

  /** Closes the data file unless its region owns it. */
  @Override
  public void close() {
    try {
      if (data != null) {
        data.close();
      }
    } catch (IOException e) {
      LOG.debug(
          "Closing the data file of map output {} of shuffle {} failed", mapId, shuffle.id(), e);
    }
  }
}
