// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.handover;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Map outputs of one application on one of a node's file systems. Each has a folder
 * <i>shuffle</i>-<i>map</i> with the files {@code data}, {@code index} and {@code
 * checksums.}<i>algorithm</i>. Executors of the daemon's user write, the daemon reads, removes, and
 * moves in what other executors have put into an {@link Inbox}. A map output exists from the moment
 * that its folder is renamed into place. Any thread, any process. Executors may be of another
 * release than the daemon, so these names stay.
 */
public record ApplicationFolder(Path path) implements HandOverFolder {
  static final String DATA = "data";
  static final String INDEX = "index";
  static final String CHECKSUMS = "checksums.";
  private static final Set<ChecksumAlgorithm> ALGORITHMS =
      EnumSet.complementOf(EnumSet.of(ChecksumAlgorithm.NONE));
  private static final String UNFINISHED = ".tmp-";

  /** Added to the name of a file of another user that is copied. */
  private static final String THEIRS = ".theirs";

  /** Limit of an index and of checksums of another user, which are those of 1 M partitions. */
  private static final int MAX_COPIED_BYTES = 8 << 20;

  private static final int BUFFER_BYTES = 64 << 10;
  private static final Pattern MAP_OUTPUT = Pattern.compile("(\\d{1,9})-(\\d{1,18})");

  /** Parent directory, which exists before the folder does. */
  public Path directory() {
    return requireNonNull(path.getParent());
  }

  private Path folder(int shuffleId, long mapId) {
    return path.resolve(shuffleId + "-" + mapId);
  }

  /**
   * Adds a map output: links its files into the folder. Copies its index and checksums if they are
   * on another file system; they take at most 16 bytes a partition. Spark replaces these files, but
   * never writes to them again.
   *
   * @return true if it was not there yet; else it is the same map output, since map ids are never
   *     used twice
   */
  @Override
  public boolean commit(int shuffleId, long mapId, MapOutputFiles.Files files) throws IOException {
    return commit(
        shuffleId,
        mapId,
        unfinished -> {
          Files.createLink(unfinished.resolve(DATA), files.data());
          linkOrCopy(files.index(), unfinished.resolve(INDEX));
          if (files.checksums() != null) {
            linkOrCopy(
                files.checksums(), unfinished.resolve(CHECKSUMS + files.checksumAlgorithm()));
          }
        });
  }

  /**
   * Moves a map output here from an inbox, for the daemon. Only the daemon can change a folder
   * here, so files are checked after they were moved. Index and checksums are copied, since their
   * owner may have the files open and change them.
   *
   * @param uid owner that the files must have
   * @return false if it was here already; the inbox then no longer has it either
   * @throws IOException if a file is not one of that user, or this process may not read it
   */
  public boolean take(Inbox inbox, int shuffleId, long mapId, int uid) throws IOException {
    boolean isNew =
        commit(
            shuffleId,
            mapId,
            unfinished -> {
              take(inbox.file(shuffleId, mapId, DATA), unfinished.resolve(DATA), uid);
              takeCopy(inbox.file(shuffleId, mapId, INDEX), unfinished.resolve(INDEX), uid);
              for (ChecksumAlgorithm algorithm : ALGORITHMS) {
                Path checksums = inbox.file(shuffleId, mapId, CHECKSUMS + algorithm);
                if (Files.exists(checksums, LinkOption.NOFOLLOW_LINKS)) {
                  takeCopy(checksums, unfinished.resolve(CHECKSUMS + algorithm), uid);
                }
              }
            });
    if (!isNew) {
      inbox.remove(shuffleId, mapId);
    }
    return isNew;
  }

  /**
   * Moves a file over an empty one: rename(2) then refuses a folder. The content of a folder cannot
   * be deleted safely while its owner may change it.
   */
  private static void take(Path from, Path to, int uid) throws IOException {
    Files.createFile(to);
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    PosixFileAttributes attributes =
        Files.readAttributes(to, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isRegularFile()) {
      throw new IOException(from + " is not a regular file");
    }
    int owner = (int) Files.getAttribute(to, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    if (owner != uid) {
      throw new IOException("%s belongs to uid %d and not to uid %d".formatted(from, owner, uid));
    }
    if (!Files.isReadable(to)) {
      throw new IOException(
          ("the node daemon may not read %s of user %s, group %s and mode %s: give the executors'"
                  + " local directories the daemon's group and the setgid bit, and executors the"
                  + " umask 027, as YARN's LinuxContainerExecutor does")
              .formatted(
                  from,
                  attributes.owner(),
                  attributes.group(),
                  PosixFilePermissions.toString(attributes.permissions())));
    }
  }

  /** Takes a file as a copy of the daemon's own. */
  private static void takeCopy(Path from, Path to, int uid) throws IOException {
    Path theirs = to.resolveSibling(to.getFileName() + THEIRS);
    take(from, theirs, uid);
    try (InputStream in = Files.newInputStream(theirs, LinkOption.NOFOLLOW_LINKS);
        OutputStream out = Files.newOutputStream(to, StandardOpenOption.CREATE_NEW)) {
      byte[] buffer = new byte[BUFFER_BYTES];
      int rest = MAX_COPIED_BYTES;
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        rest -= read; // The file may grow meanwhile.
        if (rest < 0) {
          throw new IOException(
              "%s has more than %d bytes, which are those of %d partitions"
                  .formatted(from, MAX_COPIED_BYTES, MAX_COPIED_BYTES / Long.BYTES));
        }
        out.write(buffer, 0, read);
      }
    }
    Files.delete(theirs);
  }

  /** Fills the folder of a map output before it gets its name. */
  private interface Filling {
    void fill(Path unfinished) throws IOException;
  }

  private boolean commit(int shuffleId, long mapId, Filling filling) throws IOException {
    Path folder = folder(shuffleId, mapId);
    if (Files.exists(folder)) {
      return false;
    }
    Path unfinished = Files.createDirectory(path.resolve(UNFINISHED + UUID.randomUUID()));
    boolean committed = false;
    try {
      filling.fill(unfinished);
      Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
      committed = true;
    } finally {
      if (!committed) {
        FileTree.delete(unfinished);
      }
    }
    return true;
  }

  private static void linkOrCopy(Path file, Path name) throws IOException {
    try {
      Files.createLink(name, file);
    } catch (FileSystemException e) { // EXDEV: the data file is on another disk.
      Files.copy(file, name);
    }
  }

  /** Returns true if the map output is here. */
  public boolean has(int shuffleId, long mapId) {
    return Files.exists(folder(shuffleId, mapId).resolve(DATA));
  }

  /** Finds a map output's files; null if it is not here. */
  public MapOutputFiles.@Nullable Files find(int shuffleId, long mapId) {
    Path folder = folder(shuffleId, mapId);
    Path data = folder.resolve(DATA);
    if (!Files.exists(data)) {
      return null;
    }
    for (ChecksumAlgorithm algorithm : ALGORITHMS) {
      Path checksums = folder.resolve(CHECKSUMS + algorithm);
      if (Files.exists(checksums)) {
        return new MapOutputFiles.Files(data, folder.resolve(INDEX), checksums, algorithm);
      }
    }
    return new MapOutputFiles.Files(data, folder.resolve(INDEX), null, ChecksumAlgorithm.NONE);
  }

  /** Calls the consumer for each map output. */
  public void forEach(MapOutputConsumer consumer) throws IOException {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(path)) {
      for (Path folder : folders) {
        Matcher name = MAP_OUTPUT.matcher(folder.getFileName().toString());
        if (name.matches()) {
          consumer.accept(Integer.parseInt(name.group(1)), Long.parseLong(name.group(2)));
        }
      }
    }
  }

  /** Removes unfinished map outputs older than this age, whose executors must have died. */
  public void removeUnfinished(Duration age) throws IOException {
    Instant oldest = Instant.now().minus(age);
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(path, UNFINISHED + "*")) {
      for (Path folder : folders) {
        if (Files.getLastModifiedTime(folder).toInstant().isBefore(oldest)) {
          FileTree.delete(folder);
        }
      }
    }
  }

  /** Takes the ids of a map output. */
  @FunctionalInterface
  public interface MapOutputConsumer {
    void accept(int shuffleId, long mapId);
  }

  @Override
  public void remove(int shuffleId, long mapId) throws IOException {
    FileTree.delete(folder(shuffleId, mapId));
  }
}
