package dev.sluice.blocks.node;

import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.node.NodeDisks.RefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's folders, one on each of its file systems: {@code .sluice} with a folder for each
 * application, which has the application's state in a file. All state of the daemon is here, so
 * that it can be killed at any time. Locked as long as they are open, because two daemons must not
 * have the same ones; only their user may look into them.
 */
final class NodeFolders implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeFolders.class);

  private static final String ROOT = ".sluice";
  private static final String LOCK = "lock";
  private static final String REMOVED = ".removed-";

  /** Put there by whoever starts and ends applications on this node; its name is known there. */
  private static final String ENDED = ".ended";

  /** Spark's ids of applications and more; a file name, which does not begin with a dot. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final NodeDisks disks;
  private final int directories;
  private final List<FileChannel> locks = new CopyOnWriteArrayList<>();

  /** Put away, and still to be deleted. */
  private final Set<Path> leftOver = ConcurrentHashMap.newKeySet();

  private NodeFolders(List<Path> roots) {
    disks = new NodeDisks(roots);
    directories = roots.size();
  }

  /**
   * @param directories in which the folders are, or will be
   * @throws IOException when another process has one of them open, or none can be had
   */
  static NodeFolders open(List<Path> directories) throws IOException {
    List<Path> roots =
        directories.stream().map(each -> each.toAbsolutePath().resolve(ROOT)).toList();
    NodeFolders folders = new NodeFolders(roots);
    boolean opened = false;
    try {
      folders.retain(folders.disks.onEach("opening", folders::lock));
      opened = true;
      return folders;
    } finally {
      if (!opened) {
        folders.close();
      }
    }
  }

  private Path lock(Path root) throws IOException {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(root, OWNER_ALONE);
    }
    checkOwn(root);
    FileChannel lock =
        FileChannel.open(root.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    locks.add(lock);
    boolean locked;
    try {
      locked = lock.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      locked = false; // this process itself
    }
    if (!locked) {
      throw new RefusedException(root + " is another daemon's");
    }
    return root;
  }

  /** Somebody else may have made it, to look at what is put there, or to put something there. */
  private static void checkOwn(Path root) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isDirectory()) {
      throw new RefusedException(root + " is no directory but a link or a file");
    }
    if (!OWNER_ALONE.value().containsAll(attributes.permissions())) {
      throw new RefusedException(
          "%s is open to others (%s): it has to be %s"
              .formatted(
                  root,
                  PosixFilePermissions.toString(attributes.permissions()),
                  PosixFilePermissions.toString(OWNER_ALONE.value())));
    }
  }

  /** Whether an application may be called that. */
  static boolean isName(String application) {
    return NAME.matcher(application).matches();
  }

  /**
   * The application's folders on the disks that answer, whether they are there or could not be made
   * yet.
   */
  List<ApplicationFolder> of(String application) {
    return disks.answering().stream()
        .map(root -> new ApplicationFolder(root.resolve(application)))
        .toList();
  }

  /**
   * Makes the application's folders where they are missing and can be had.
   *
   * @return how many are there
   * @throws IOException when none is, with the reasons
   */
  int make(String application) throws IOException {
    List<Path> made =
        disks.onEach(
            "making a folder for " + application,
            root -> {
              Path folder = root.resolve(application);
              return Files.isDirectory(folder)
                  ? folder
                  : Files.createDirectory(folder, OWNER_ALONE);
            });
    return made.size();
  }

  /** Whether somebody who may write to the application's folders says that it is over. */
  boolean isEnded(String application) {
    return disks.answering().stream()
        .anyMatch(root -> Files.exists(root.resolve(application).resolve(ENDED)));
  }

  /**
   * Those that have a state; what is left of others is put away, for {@link #leftOver}. Where a
   * disk cannot be read, what was kept of an application is not kept any more.
   */
  List<ApplicationState> read() throws IOException {
    Map<String, ApplicationState> states = new ConcurrentSkipListMap<>();
    retain(disks.onEach("reading", root -> read(root, states)));
    retain(disks.onEach("putting away what is of nobody", root -> putOthersAway(root, states)));
    boolean isWhole = disks.roots().size() == directories;
    return states.values().stream().map(state -> isWhole ? state : state.anew()).toList();
  }

  private void retain(List<Path> roots) {
    disks.roots().retainAll(roots);
  }

  private Path read(Path root, Map<String, ApplicationState> states) throws IOException {
    for (Path folder : folders(root)) {
      if (folder.getFileName().toString().startsWith(REMOVED)) {
        leftOver.add(folder);
      } else if (StateFile.isIn(folder)) {
        ApplicationState state = StateFile.read(folder);
        if (state == null) {
          putAway(root, folder);
        } else {
          states.put(state.name(), state);
        }
      }
    }
    return root;
  }

  private Path putOthersAway(Path root, Map<String, ApplicationState> states) throws IOException {
    for (Path folder : folders(root)) {
      String name = folder.getFileName().toString();
      if (!name.startsWith(REMOVED) && !states.containsKey(name)) {
        putAway(root, folder);
      }
    }
    return root;
  }

  /** Also the files that a daemon that was killed was trying the root out with. */
  private static List<Path> folders(Path root) throws IOException {
    try (Stream<Path> files = Files.list(root)) {
      return files.filter(file -> Files.isDirectory(file) || isProbe(file)).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static boolean isProbe(Path file) {
    return file.getFileName().toString().startsWith(LocalDirectories.PROBE);
  }

  /** Those that the application's are in, one on each file system. */
  List<Path> roots() {
    return disks.roots();
  }

  /** Deletes the folders of executors that have ended beside one of the roots. Waits for it. */
  void deleteDeadExecutors(Path root) throws IOException {
    ExecutorFolders.removeDead(root.getParent(), folder -> delete(putAway(root, folder)));
  }

  /** What has been put away; still to be deleted, which may take long. */
  Set<Path> leftOver() {
    return leftOver;
  }

  /** Deletes what was put away. */
  void delete(Path folder) throws IOException {
    try {
      FileTree.delete(folder);
    } finally {
      leftOver.remove(folder);
    }
  }

  private Path putAway(Path root, Path folder) throws IOException {
    Path away = root.resolve(REMOVED + UUID.randomUUID());
    Files.move(folder, away, StandardCopyOption.ATOMIC_MOVE);
    leftOver.add(away);
    return away;
  }

  /** In each folder, so that any one of them will do. */
  void write(ApplicationState state) throws IOException {
    disks.onEach("writing of " + state, root -> write(root.resolve(state.name()), state));
  }

  private static Path write(Path folder, ApplicationState state) throws IOException {
    StateFile.write(folder, state);
    return folder;
  }

  /**
   * Takes the application's folders away at once, for an application of the same name or the next
   * start not to find them.
   *
   * @return what is left to be deleted
   */
  List<Path> remove(String application) throws IOException {
    return disks.onAll("removing " + application, root -> remove(root, application)).stream()
        .flatMap(Optional::stream)
        .toList();
  }

  private Optional<Path> remove(Path root, String application) throws IOException {
    Path folder = root.resolve(application);
    return Files.exists(folder) ? Optional.of(putAway(root, folder)) : Optional.empty();
  }

  @Override
  public void close() {
    for (FileChannel lock : locks) {
      try {
        lock.close();
      } catch (IOException e) {
        LOG.warn("A lock could not be closed", e);
      }
    }
  }
}
