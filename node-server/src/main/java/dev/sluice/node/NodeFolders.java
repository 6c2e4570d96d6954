// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.handover.ExecutorFolders;
import dev.sluice.blocks.handover.FileTree;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.RateLimitedLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's folders: {@code .sluice} on each of its file systems, with a folder for each application
 * that has its state in a file, and for each MapReduce job ({@link NodeJobs}). They are the
 * daemon's whole state, so it can be killed at any time. They stay locked while open, because two
 * daemons must not share them. Only their user has access; {@link Inboxes} for other users are next
 * to them. The {@link NodeDaemon} opens and closes this. Any thread; callers wait for disks ({@link
 * NodeDisks}). {@link #read} is called once, before applications begin.
 */
final class NodeFolders implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeFolders.class);

  private static final String ROOT = ".sluice";
  private static final String REMOVED = ".removed-";

  /** Marker of an ended application, written by YARN's auxiliary service, which knows the name. */
  private static final String ENDED = ".ended";

  /** Matches Spark's application ids and other file names that do not begin with a dot. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

  private final List<Path> roots;
  private final RootLocks locks = new RootLocks();

  /** Roots that are in use. */
  private final NodeDisks disks = new NodeDisks(List.of());

  /** States that were found at the start, by application; guarded by this. */
  private final Map<String, ApplicationState> states = new TreeMap<>();

  /** True once {@link #read} has returned them; guarded by this. */
  private boolean isRead;

  /** Limits warnings about inboxes that cannot be made. */
  private final RateLimitedLog withoutInbox = new RateLimitedLog();

  /** Folders that were put away and have to be deleted. */
  private final Set<Path> leftOver = ConcurrentHashMap.newKeySet();

  private NodeFolders(List<Path> roots) {
    this.roots = roots;
  }

  /** Root of all applications' folders in a directory. */
  static Path root(Path directory) {
    return directory.toAbsolutePath().resolve(ROOT);
  }

  /**
   * @param directories parents of the roots, which may not exist yet
   * @throws IOException if another process has a root open, or no root can be used
   */
  static NodeFolders open(List<Path> directories) throws IOException {
    List<Path> roots = directories.stream().map(NodeFolders::root).toList();
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
      if (isRead()) { // its caller no longer waits
        LOG.error("{} answers again, but cannot be used", root, e);
      }
      throw e;
    }
  }

  private synchronized boolean isRead() {
    return isRead;
  }

  private Path opened(Path root) throws IOException {
    locks.lock(root);
    leftOver.addAll(Inboxes.of(root));
    Map<String, ApplicationState> found = new HashMap<>();
    for (Path folder : folders(root)) {
      if (folder.getFileName().toString().startsWith(REMOVED)) {
        leftOver.add(folder);
      } else if (StateFile.isIn(folder)) {
        ApplicationState state = StateFile.read(folder);
        if (state != null) {
          found.put(state.name(), state);
        } else if (!JobFile.isIn(folder)) {
          putAway(root, folder);
        }
      }
    }
    if (!use(root, found)) {
      deleteLeftOver();
    }
    return root;
  }

  /**
   * Begins to use a root. If applications have begun without it, their map outputs there are
   * discarded.
   *
   * @return true if it has answered in time
   */
  private synchronized boolean use(Path root, Map<String, ApplicationState> found)
      throws IOException {
    if (isRead) {
      putOthersAway(root, Set.of());
      LOG.info("{} answers again; applications that arrive from now on use it", root);
    } else {
      states.putAll(found);
    }
    disks.roots().add(root);
    disks.roots().sort(Comparator.comparingInt(roots::indexOf));
    return !isRead;
  }

  /** Returns true if an application may have this name. */
  static boolean isName(String application) {
    return NAME.matcher(application).matches();
  }

  /** Returns true if the directory has a root in use, and its disk answers, as far as is known. */
  boolean answers(Path directory) {
    return disks.answering().contains(root(directory));
  }

  /** The application's folders on the disks that answer, even if they could not be made yet. */
  List<ApplicationFolder> of(String application) {
    return disks.answering().stream()
        .map(root -> new ApplicationFolder(root.resolve(application)))
        .toList();
  }

  /**
   * Makes missing folders of the application where possible.
   *
   * @return number of folders that exist, with an inbox if the application needs one
   * @throws IOException if none exists, with the reasons
   */
  int make(ApplicationState state) throws IOException {
    return Collections.frequency(
        disks.onEach("making a folder for " + state.name(), root -> make(root, state)), true);
  }

  /** Returns true unless an inbox is missing. */
  private boolean make(Path root, ApplicationState state) throws IOException {
    Path folder = root.resolve(state.name());
    boolean isThere = Files.isDirectory(folder);
    boolean isWhole = Inboxes.make(root, state, isThere, withoutInbox);
    if (!isThere) {
      RootLocks.makeFolder(folder);
    }
    return isWhole;
  }

  /** Returns true if a process with access to the application's folders has marked it as over. */
  boolean isEnded(String application) {
    return disks.answering().stream().anyMatch(root -> isEnded(root.resolve(application)));
  }

  /** Returns true if an application's folder is marked so. */
  static boolean isEnded(Path folder) {
    return Files.exists(folder.resolve(ENDED));
  }

  /**
   * Returns the applications with a state; puts other folders away, for {@link #leftOver}. If a
   * disk cannot be read, all applications count as new, since some of their map outputs may be
   * missing.
   */
  synchronized List<ApplicationState> read() throws IOException {
    isRead = true;
    disks
        .roots()
        .retainAll(
            disks.onEach(
                "moving away folders of no known application",
                root -> putOthersAway(root, states.keySet())));
    boolean isWhole = disks.roots().size() == roots.size();
    return states.values().stream().map(state -> isWhole ? state : state.anew()).toList();
  }

  private Path putOthersAway(Path root, Set<String> kept) throws IOException {
    for (Path folder : folders(root)) {
      String name = folder.getFileName().toString();
      if (!name.startsWith(REMOVED) && !kept.contains(name) && !JobFile.isIn(folder)) {
        putAway(root, folder);
      }
    }
    return root;
  }

  /** Includes probe files of a daemon that was killed. */
  static List<Path> folders(Path root) throws IOException {
    try (Stream<Path> files = Files.list(root)) {
      return files.filter(file -> Files.isDirectory(file) || isProbe(file)).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static boolean isProbe(Path file) {
    return file.getFileName().toString().startsWith(LocalDirectories.PROBE);
  }

  /** Disks of the roots in use. */
  NodeDisks disks() {
    return disks;
  }

  /** Roots in use, one on each file system. */
  List<Path> roots() {
    return disks.roots();
  }

  /** Deletes folders of executors that have ended, next to one of the roots. Waits for it. */
  void deleteDeadExecutors(Path root) throws IOException {
    ExecutorFolders.removeDead(
        requireNonNull(root.getParent()), folder -> delete(putAway(root, folder)));
  }

  /** Folders that were put away; deleting them may take long. */
  Set<Path> leftOver() {
    return leftOver;
  }

  /** Deletes all folders that were put away. May take long; no caller waits. */
  void deleteLeftOver() {
    for (Path folder : leftOver) {
      try {
        delete(folder);
      } catch (IOException e) {
        LOG.warn("Cannot delete {}, which belongs to no application any more", folder, e);
      }
    }
  }

  /** Deletes a folder that was put away. */
  void delete(Path folder) throws IOException {
    try {
      if (Inboxes.isOne(folder)) {
        Inboxes.delete(folder);
      } else {
        FileTree.delete(folder);
      }
    } finally {
      leftOver.remove(folder);
    }
  }

  /** Puts a folder away, which has to be deleted. */
  Path putAway(Path root, Path folder) throws IOException {
    Path away = root.resolve(REMOVED + UUID.randomUUID());
    Files.move(folder, away, StandardCopyOption.ATOMIC_MOVE);
    leftOver.add(away);
    return away;
  }

  /** Writes the state into each folder, so that any one of them is enough. */
  void write(ApplicationState state) throws IOException {
    disks.onEach("writing the state of " + state, root -> write(root.resolve(state.name()), state));
  }

  private static Path write(Path folder, ApplicationState state) throws IOException {
    StateFile.write(folder, state);
    return folder;
  }

  /**
   * Puts the application's folders away at once. Neither a new application of the same name nor the
   * next start finds them.
   *
   * @return folders that have to be deleted
   */
  List<Path> remove(ApplicationState state) throws IOException {
    return disks.onAll("removing " + state.name(), root -> remove(root, state)).stream()
        .flatMap(List::stream)
        .toList();
  }

  private List<Path> remove(Path root, ApplicationState state) throws IOException {
    List<Path> removed = new ArrayList<>();
    if (state.user() != null) {
      removed.add(Inboxes.path(root, state.user())); // No other application has its name.
    }
    Path folder = root.resolve(state.name());
    if (Files.exists(folder)) {
      removed.add(putAway(root, folder));
    }
    return removed;
  }

  @Override
  public void close() {
    locks.close();
  }
}
