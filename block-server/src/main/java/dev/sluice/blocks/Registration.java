package dev.sluice.blocks;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A map output on its way into its shuffle: its files are found and opened on a thread that may
 * wait for their disks, with no lock held, and then it is registered on the registry's thread. One
 * thread at a time, the last of which closes it.
 */
final class Registration implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Registration.class);

  /** Finds and opens a map output's files. */
  interface Opening {
    Found found() throws IOException;
  }

  /**
   * Files that fit together.
   *
   * @param data null where all partitions are empty, or nothing is to be registered
   * @param registers whether it is to be registered, or else staged
   */
  record Found(
      MapOutputFiles.Files files, MapOutputIndex index, DataFile data, boolean registers) {}

  private final RegisteredShuffle shuffle;
  private final long mapId;
  private Opening opened;
  private DataFile data;

  Registration(RegisteredShuffle shuffle, long mapId) {
    this.shuffle = shuffle;
    this.mapId = mapId;
  }

  RegisteredShuffle shuffle() {
    return shuffle;
  }

  long mapId() {
    return mapId;
  }

  /** Waits as the disks do; what goes wrong {@link #found} says. */
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

  /** Once it is open. */
  Found found() throws IOException {
    return opened.found();
  }

  /** Closes the data file where it is not its region's. */
  @Override
  public void close() {
    try {
      if (data != null) {
        data.close();
      }
    } catch (IOException e) {
      LOG.debug("Map output {} of shuffle {} cannot be closed", mapId, shuffle.id(), e);
    }
  }
}
