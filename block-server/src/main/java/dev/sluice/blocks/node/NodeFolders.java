package dev.sluice.blocks.node;

import dev.sluice.blocks.LocalDirectories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
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
  private static final String REMOVED = ".removed-";

  /** Put there by whoever starts and ends applications on this node; its name is known there. */
  private static final String ENDED = ".ended";

  /** Spark's ids of applications and more; a file name, which does not begin with a dot. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

  private final List<Path> roots;
  private final RootLocks locks = new RootLocks();

  /** Those of the roots that are used. */
  private final NodeDisks disks = new NodeDisks(List.of());

  /** What was found at the start, by application; guarded by this. */
  private final Map<String, ApplicationState> states = new TreeMap<>();

  /** Whether somebody has been told of them; guarded by this. */
  private boolean isRead;

  /** Put away, and still to be deleted. */
  private final Set<Path> leftOver = ConcurrentHashMap.newKeySet();

  private NodeFolders(List<Path> roots) {
    this.roots = roots;
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
      new NodeDisks(roots).onEach("opening", folders::open);
      opened = true;
      return folders;
    } finally {
      if (!opened) {
        folders.close();
      }
    }
  }

  private Path open(Path root) throws IOException {
    try {
      return opened(root);
    } catch (IOException e) {
      if (isRead()) { // so nobody waits for it any more
        LOG.error("{} has answered, and cannot be used", root, e);
      }
      throw e;
    }
  }

  private synchronized boolean isRead() {
    return isRead;
  }

  private Path opened(Path root) throws IOException {
    locks.lock(root);
    Map<String, ApplicationState> found = new HashMap<>();
    for (Path folder : folders(root)) {
      if (folder.getFileName().toString().startsWith(REMOVED)) {
        leftOver.add(folder);
      } else if (StateFile.isIn(folder)) {
        ApplicationState state = StateFile.read(folder);
        if (state == null) {
          putAway(root, folder);
        } else {
          found.put(state.name(), state);
        }
      }
    }
    if (!use(root, found)) {
      deleteLeftOver();
    }
    return root;
  }

  /**
   * Where it answers after applications have begun without it, what it has of them is of nobody.
   *
   * @return whether it has answered in time
   */
  private synchronized boolean use(Path root, Map<String, ApplicationState> found)
      throws IOException {
    if (isRead) {
      putOthersAway(root, Set.of());
      LOG.info("{} has answered, and is used by applications that come from now on", root);
    } else {
      states.putAll(found);
    }
    disks.roots().add(root);
    disks.roots().sort(Comparator.comparing(roots::indexOf));
    return !isRead;
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
              return Files.isDirectory(folder) ? folder : RootLocks.makeFolder(folder);
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
  synchronized List<ApplicationState> read() throws IOException {
    isRead = true;
    disks
        .roots()
        .retainAll(
            disks.onEach(
                "putting away what is of nobody", root -> putOthersAway(root, states.keySet())));
    boolean isWhole = disks.roots().size() == roots.size();
    return states.values().stream().map(state -> isWhole ? state : state.anew()).toList();
  }

  private Path putOthersAway(Path root, Set<String> kept) throws IOException {
    for (Path folder : folders(root)) {
      String name = folder.getFileName().toString();
      if (!name.startsWith(REMOVED) && !kept.contains(name)) {
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

  /** It may take long, and nobody waits for it. */
  void deleteLeftOver() {
    for (Path folder : leftOver) {
      try {
        delete(folder);
      } catch (IOException e) {
        LOG.warn("{} is of no application any more and cannot be deleted", folder, e);
      }
    }
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
    locks.close();
  }
}
