// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.handover.Inbox;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.node.StateFile.OtherUser;
import dev.sluice.rdma.RateLimitedLog;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inboxes of one application of another user: {@code .sluice-inbox/}<i>random</i> next to each of
 * the node's roots. All users may search {@code .sluice-inbox}, and only the daemon may list it. An
 * inbox is therefore reached by executors that know its name, because they have entered with the
 * application's secret. They can put files there, and take back their own (sticky bit). The setgid
 * bit gives their copies the daemon's group. {@link NodeFolders} makes and deletes the inboxes, a
 * {@link SparkApplication} moves map outputs out of them. Any thread; waits for disks.
 */
final class Inboxes {
  private static final Logger LOG = LoggerFactory.getLogger(Inboxes.class);

  private static final String ROOT = ".sluice-inbox";
  private static final String MODE = "unix:mode";

  /** Permissions rwx-wx-wx with the setgid and sticky bits. */
  private static final int PUT = 03733;

  private static final int OWNER_ALONE = 0700;
  private static final int ALL_BITS = 07777;

  /** Permission to search, not to list. */
  private static final Set<PosixFilePermission> SEARCH =
      PosixFilePermissions.fromString("rwx--x--x");

  /** Permissions of {@link #PUT} without those bits. */
  private static final Set<PosixFilePermission> ADD = PosixFilePermissions.fromString("rwx-wx-wx");

  /** Longer than any executor waits for the answer to a hand-over. */
  static final Duration MAX_AGE = Duration.ofMinutes(15);

  private final int uid;
  private final List<ApplicationFolder> folders;
  private final List<Inbox> inboxes;

  /**
   * @param folders the application's own folders
   */
  Inboxes(OtherUser user, List<ApplicationFolder> folders) {
    uid = user.uid();
    this.folders = folders;
    inboxes = folders.stream().map(folder -> new Inbox(path(folder.directory(), user))).toList();
  }

  private static Path parent(Path root) {
    return root.resolveSibling(ROOT);
  }

  /** Returns the path of an application's inbox next to a root. */
  static Path path(Path root, OtherUser user) {
    return parent(root).resolve(user.inbox());
  }

  /**
   * Makes the inbox that an application needs next to a root.
   *
   * @param isServed true if the application may have map outputs there, which need no inbox
   * @param failures limits the warnings
   * @return false, with a warning, if such an application has no inbox
   * @throws IOException if another one has none, with the reason
   */
  static boolean make(Path root, ApplicationState state, boolean isServed, RateLimitedLog failures)
      throws IOException {
    OtherUser user = state.user();
    if (user == null) {
      return true;
    }
    try {
      make(root, user);
      return true;
    } catch (IOException e) {
      if (!isServed) {
        throw e;
      }
      long times = failures.add(System.nanoTime());
      if (times > 0) {
        LOG.warn(
            "{} cannot hand map outputs over next to {}, and those that are there are served:"
                + " making its inbox failed ({}). The daemon tries again when an executor connects;"
                + " {} such failures since this was last logged",
            state.name(),
            root,
            e.toString(),
            times);
      }
      return false;
    }
  }

  /**
   * Makes an application's inbox next to a root, unless it is there.
   *
   * @throws IOException if it cannot be made, or would not be the daemon's alone, with the reason
   */
  static void make(Path root, OtherUser user) throws IOException {
    Path parent = parent(root);
    makeOwn(parent, SEARCH);
    Files.setPosixFilePermissions(parent, SEARCH);
    Path inbox = path(root, user);
    makeOwn(inbox, ADD);
    Files.setAttribute(inbox, MODE, PUT);
    int mode = (int) Files.getAttribute(inbox, MODE) & ALL_BITS;
    if (mode != PUT) { // chmod(2) clears the setgid bit if the daemon is not in the folder's group.
      throw new IOException(
          "%s has mode %o instead of %o: the daemon has to be in the group of %s"
              .formatted(inbox, mode, PUT, parent));
    }
  }

  /** Another thread or an earlier call may have made it. */
  private static void makeOwn(Path folder, Set<PosixFilePermission> allowed) throws IOException {
    try {
      RootLocks.makeFolder(folder);
    } catch (FileAlreadyExistsException e) {
      LOG.debug("{} is there", folder, e);
    }
    Optional<String> reason = RootLocks.reasonAgainst(folder, allowed);
    if (reason.isPresent()) {
      throw new IOException(reason.get());
    }
  }

  /**
   * Returns all inboxes next to a root: at the start, those of an earlier run. None if the folder
   * is not the daemon's own, since any user may have made it.
   */
  static List<Path> of(Path root) {
    Path parent = parent(root);
    if (!Files.exists(parent, LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    List<Path> found = new ArrayList<>();
    try {
      Optional<String> reason = RootLocks.reasonAgainst(parent, SEARCH);
      if (reason.isPresent()) {
        throw new IOException(reason.get());
      }
      try (DirectoryStream<Path> inboxes = Files.newDirectoryStream(parent)) {
        inboxes.forEach(found::add);
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.warn(
          "Leaving {} alone, so that executors of other users cannot use this disk: {}",
          parent,
          e.toString());
    }
    return found;
  }

  /** Returns true for the path of an inbox. */
  static boolean isOne(Path path) {
    return requireNonNull(path.getParent()).endsWith(ROOT);
  }

  /**
   * Deletes an inbox if it exists. Does not delete what is in folders there: their owner could lead
   * the deletion elsewhere.
   *
   * @throws java.nio.file.DirectoryNotEmptyException if there are such folders
   */
  static void delete(Path inbox) throws IOException {
    if (!Files.exists(inbox)) {
      return;
    }
    Files.setAttribute(inbox, MODE, OWNER_ALONE); // No process adds files any more.
    try (DirectoryStream<Path> files = Files.newDirectoryStream(inbox)) {
      files.forEach(Inboxes::deleteOne);
    }
    Files.delete(inbox);
  }

  /** Deletes a file or an empty folder. One that cannot be deleted leaves the others. */
  private static void deleteOne(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.debug("Cannot delete {}", file, e);
    }
  }

  /** Returns the paths for executors, in the order of the application's folders. */
  List<String> paths() {
    return inboxes.stream().map(inbox -> inbox.path().toString()).toList();
  }

  /**
   * Moves a map output out of an inbox into the application's folder.
   *
   * @param number index of both
   * @return false if the folder has it already
   * @throws IOException if its files are not there, are not the user's or may not be read
   */
  boolean move(int shuffleId, long mapId, int number) throws IOException {
    Inbox inbox = inboxes.get(Objects.checkIndex(number, inboxes.size()));
    return folders.get(number).take(inbox, shuffleId, mapId, uid);
  }

  /** Removes files of executors that died before they told the daemon of them. */
  void removeOld(Duration age) {
    Instant oldest = Instant.now().minus(age);
    for (Inbox inbox : inboxes) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(inbox.path())) {
        files.forEach(file -> removeIfOld(file, oldest));
      } catch (IOException | DirectoryIteratorException e) {
        LOG.debug("Cannot look for old files in {}", inbox.path(), e);
      }
    }
  }

  /** A link changes the time of the file's attributes, not the time of its data. */
  private static void removeIfOld(Path file, Instant oldest) {
    try {
      FileTime linked =
          (FileTime) Files.getAttribute(file, "unix:ctime", LinkOption.NOFOLLOW_LINKS);
      if (linked.toInstant().isBefore(oldest)) {
        deleteOne(file);
      }
    } catch (IOException e) {
      LOG.debug("{} was taken or removed meanwhile", file, e);
    }
  }
}
