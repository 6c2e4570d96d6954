// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Folder of a node daemon for map outputs of an application whose executors run as another user.
 * They may put files there and not list it; the daemon moves the files into its {@link
 * ApplicationFolder}, which only it can change. A map output has the files
 * <i>shuffle</i>-<i>map</i>{@code .data}, {@code .index} and {@code .checksums.}<i>algorithm</i>.
 *
 * <p>An executor may link its own files only (protected_hardlinks), so it makes the links itself.
 * There are no subfolders, because their owner could change them while the daemon works on them.
 * Executors may be of another release than the daemon, so these names stay. Any thread.
 *
 * @param path its last name is random, and known to the application's executors alone
 */
public record Inbox(Path path) implements HandOverFolder {
  /**
   * Names a file of a map output.
   *
   * @param file its name in an {@link ApplicationFolder}
   */
  Path file(int shuffleId, long mapId, String file) {
    return path.resolve(shuffleId + "-" + mapId + "." + file); // the same in each locale
  }

  @Override
  public boolean commit(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    remove(shuffleId, mapId); // An attempt without an answer may have left some.
    try {
      Files.createLink(file(shuffleId, mapId, ApplicationFolder.DATA), files.data());
      Files.copy(files.index(), file(shuffleId, mapId, ApplicationFolder.INDEX));
      if (files.checksums() != null) {
        Files.copy(
            files.checksums(),
            file(shuffleId, mapId, ApplicationFolder.CHECKSUMS + files.checksumAlgorithm()));
      }
    } catch (IOException | RuntimeException | Error e) {
      removeAfter(e, shuffleId, mapId);
      throw e;
    }
    return true;
  }

  @Override
  public void remove(int shuffleId, long mapId) throws IOException {
    if (!Files.isExecutable(path)) {
      return; // The daemon has closed it, to delete it.
    }
    Files.deleteIfExists(file(shuffleId, mapId, ApplicationFolder.DATA));
    Files.deleteIfExists(file(shuffleId, mapId, ApplicationFolder.INDEX));
    for (ChecksumAlgorithm algorithm : ChecksumAlgorithm.values()) {
      Files.deleteIfExists(file(shuffleId, mapId, ApplicationFolder.CHECKSUMS + algorithm));
    }
  }
}
