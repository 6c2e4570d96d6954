// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Deletes and publishes directory trees, and finds files in them, which java.nio.file lacks. Any
 * thread may call it.
 */
public final class Directories {
  private Directories() {}

  /** Tells whether a directory has everything that was to be generated in it. */
  @FunctionalInterface
  public interface Completeness {
    boolean isComplete(Path directory) throws IOException;
  }

  /**
   * Renames a generated directory; if another process or thread was faster, deletes it and keeps
   * the other's. Replaces an incomplete one.
   *
   * @param made on the same file system
   */
  public static void publish(Path made, Path kept, Completeness completeness) throws IOException {
    Path lock = kept.resolveSibling(kept.getFileName() + ".lock");
    synchronized (Directories.class) { // The file lock works only between processes.
      try (FileChannel file = FileChannel.open(lock, CREATE, WRITE);
          FileLock _ = file.lock()) {
        if (completeness.isComplete(kept)) {
          delete(made);
        } else {
          delete(kept);
          Files.move(made, kept);
        }
      }
    }
  }

  /**
   * Returns the files below a directory whose names are chosen, sorted by name. Tolerates executors
   * that delete entries at the same time.
   *
   * @throws NoSuchFileException if the directory itself does not exist
   */
  public static List<Path> files(Path directory, Predicate<String> names) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new NoSuchFileException(directory.toString());
    }
    List<Path> files = new ArrayList<>();
    addFiles(directory, names, files);
    files.sort(Comparator.comparing(Path::getFileName).thenComparing(Comparator.naturalOrder()));
    return files;
  }

  private static void addFiles(Path directory, Predicate<String> names, List<Path> files)
      throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
          addFiles(entry, names, files);
        } else if (names.test(entry.getFileName().toString())) {
          files.add(entry);
        }
      }
    } catch (NoSuchFileException e) {
      // It was deleted meanwhile.
    }
  }

  /**
   * Deletes a directory with its content; does not follow symbolic links. Tolerates executors that
   * delete entries at the same time.
   */
  public static void delete(Path directory) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
        for (Path entry : entries) {
          delete(entry);
        }
      } catch (NoSuchFileException e) {
        // It was deleted meanwhile.
      }
    }
    Files.deleteIfExists(directory);
  }
}
