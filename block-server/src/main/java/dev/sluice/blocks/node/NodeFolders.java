package dev.sluice.blocks.node;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's folders, one on each of its file systems: {@code .sluice} with a folder for each
 * application, which has the application's state in a file. All state of the daemon is here, so
 * that it can be killed at any time. Nothing is forced to the disk: what is here outlives
 * processes, and not the system, of which only a part may have been written. So the state has the
 * boot's id, and is of nobody under another one. Locked as long as they are open, because two
 * daemons must not have the same ones; only their user may look into them.
 */
final class NodeFolders implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeFolders.class);

  private static final String ROOT = ".sluice";
  private static final String LOCK = "lock";
  private static final String REMOVED = ".removed-";
  private static final String STATE = ".application";

  /** Put there by whoever starts and ends applications on this node; its name is known there. */
  private static final String ENDED = ".ended";

  private static final String SECRET = "secret";
  private static final String SINCE = "since";
  private static final String PORT = "port";
  private static final String BOOT = "boot";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /** Spark's ids of applications and more; a file name, which does not begin with a dot. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final FileAttribute<Set<PosixFilePermission>> FILE_OF_OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final List<Path> roots = new ArrayList<>();
  private final List<FileChannel> locks = new ArrayList<>();
  private final List<Path> leftOver = new ArrayList<>();

  private NodeFolders() {}

  /**
   * @param directories in which the folders are, or will be
   * @throws IOException when another process has one of them open
   */
  static NodeFolders open(List<Path> directories) throws IOException {
    NodeFolders folders = new NodeFolders();
    boolean opened = false;
    try {
      for (Path directory : directories) {
        folders.add(directory.toAbsolutePath().resolve(ROOT));
      }
      opened = true;
      return folders;
    } finally {
      if (!opened) {
        folders.close();
      }
    }
  }

  private void add(Path root) throws IOException {
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
      throw new IOException(root + " is another daemon's");
    }
    roots.add(root);
  }

  /** Somebody else may have made it, to look at what is put there, or to put something there. */
  private static void checkOwn(Path root) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isDirectory()) {
      throw new IOException(root + " is no directory but a link or a file");
    }
    if (!OWNER_ALONE.value().containsAll(attributes.permissions())) {
      throw new IOException(
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

  /** The application's folders, which are made where they are missing. */
  List<ApplicationFolder> create(String application) throws IOException {
    List<ApplicationFolder> folders = new ArrayList<>();
    for (Path root : roots) {
      Path folder = root.resolve(application);
      if (!Files.isDirectory(folder)) {
        Files.createDirectory(folder, OWNER_ALONE);
      }
      folders.add(new ApplicationFolder(folder));
    }
    return folders;
  }

  /** Whether somebody who may write to the application's folders says that it is over. */
  boolean isEnded(String application) {
    return roots.stream().anyMatch(root -> Files.exists(root.resolve(application).resolve(ENDED)));
  }

  /** Those that have a state; what is left of others is put away, for {@link #leftOver}. */
  List<ApplicationState> read() throws IOException {
    Map<String, ApplicationState> states = new TreeMap<>();
    List<Path> stateless = new ArrayList<>();
    for (Path root : roots) {
      try (DirectoryStream<Path> folders = Files.newDirectoryStream(root, Files::isDirectory)) {
        for (Path folder : folders) {
          if (folder.getFileName().toString().startsWith(REMOVED)) {
            leftOver.add(folder);
          } else if (!read(folder, states)) {
            stateless.add(folder);
          }
        }
      }
    }
    for (Path folder : stateless) {
      if (!states.containsKey(folder.getFileName().toString())) {
        LOG.warn("{} is of no application any more and is deleted", folder);
        leftOver.add(putAway(folder));
      }
    }
    return List.copyOf(states.values());
  }

  /** What {@link #read} has found of nobody; still to be deleted, which may take long. */
  List<Path> leftOver() {
    return List.copyOf(leftOver);
  }

  private static Path putAway(Path folder) throws IOException {
    Path away = folder.resolveSibling(REMOVED + UUID.randomUUID());
    return Files.move(folder, away, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Whether the folder says whose it is, and is of this boot. */
  private static boolean read(Path folder, Map<String, ApplicationState> states)
      throws IOException {
    String name = folder.getFileName().toString();
    Path file = folder.resolve(STATE);
    if (!isName(name) || !Files.exists(file)) {
      return false;
    }
    Properties state = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      state.load(reader);
    }
    String secret = state.getProperty(SECRET);
    String since = state.getProperty(SINCE);
    String port = state.getProperty(PORT, "");
    boolean isOfThisBoot = state.getProperty(BOOT, "").equals(boot());
    if (!isOfThisBoot || secret == null || since == null || !port.matches("\\d{1,5}")) {
      return false;
    }
    states.put(name, new ApplicationState(name, secret, since, Integer.parseInt(port)));
    return true;
  }

  /** Another one each time that the system starts (random(4)). */
  private static String boot() throws IOException {
    return Files.exists(BOOT_ID) ? Files.readString(BOOT_ID).strip() : "";
  }

  /** In each folder, so that any one of them will do. */
  void write(ApplicationState state) throws IOException {
    Properties properties = new Properties();
    properties.setProperty(SECRET, state.secret());
    properties.setProperty(SINCE, state.since());
    properties.setProperty(BOOT, boot());
    properties.setProperty(PORT, Integer.toString(state.port()));
    for (Path root : roots) {
      Path folder = root.resolve(state.name());
      Path file = folder.resolve(STATE + ".new");
      Files.deleteIfExists(file);
      Files.createFile(file, FILE_OF_OWNER_ALONE);
      try (Writer writer = Files.newBufferedWriter(file)) {
        properties.store(writer, null);
      }
      Files.move(file, folder.resolve(STATE), StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /**
   * Takes the application's folders away at once, for an application of the same name or the next
   * start not to find them.
   *
   * @return what is left to be deleted
   */
  List<Path> remove(String application) throws IOException {
    List<Path> removed = new ArrayList<>();
    for (Path root : roots) {
      Path folder = root.resolve(application);
      if (Files.exists(folder)) {
        removed.add(putAway(folder));
      }
    }
    return removed;
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
