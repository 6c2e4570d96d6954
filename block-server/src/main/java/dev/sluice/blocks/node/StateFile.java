package dev.sluice.blocks.node;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file in an application's folder that says whose it is, for the daemon's next start. Nothing
 * is forced to the disk: what is here outlives processes, and not the system, of which only a part
 * may have been written. So it has the boot's id, and is of nobody under another one.
 */
final class StateFile {
  private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);

  private static final String NAME = ".application";
  private static final String SECRET = "secret";
  private static final String SINCE = "since";
  private static final String PORT = "port";
  private static final String BOOT = "boot";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private static final FileAttribute<Set<PosixFilePermission>> OF_OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private StateFile() {}

  static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(NAME));
  }

  /**
   * Whose the folder is. Null where its file does not say so, or is of another boot: it is only
   * ever replaced as a whole, so a damaged one is of a disk that lost more.
   */
  static ApplicationState read(Path folder) throws IOException {
    Properties state = new Properties();
    try (Reader reader = Files.newBufferedReader(folder.resolve(NAME))) {
      state.load(reader);
    } catch (CharacterCodingException | IllegalArgumentException e) {
      LOG.warn("{} says nothing of an application", folder, e);
    }
    String name = folder.getFileName().toString();
    String secret = state.getProperty(SECRET);
    String since = state.getProperty(SINCE, "0"); // A block server of before did not say it.
    String port = state.getProperty(PORT, "");
    boolean isOfThisBoot = state.getProperty(BOOT, "").equals(boot());
    boolean isWhole = secret != null && port.matches("\\d{1,5}");
    return NodeFolders.isName(name) && isOfThisBoot && isWhole
        ? new ApplicationState(name, secret, since, Integer.parseInt(port))
        : null;
  }

  /** Another one each time that the system starts (random(4)). */
  private static String boot() throws IOException {
    return Files.exists(BOOT_ID) ? Files.readString(BOOT_ID).strip() : "";
  }

  /** In the place of the one that is there. */
  static void write(Path folder, ApplicationState state) throws IOException {
    Properties properties = new Properties();
    properties.setProperty(SECRET, state.secret());
    properties.setProperty(SINCE, state.since());
    properties.setProperty(BOOT, boot());
    properties.setProperty(PORT, Integer.toString(state.port()));
    Path unfinished = folder.resolve(NAME + ".new");
    Files.deleteIfExists(unfinished);
    Files.createFile(unfinished, OF_OWNER_ALONE);
    try (Writer writer = Files.newBufferedWriter(unfinished)) {
      properties.store(writer, null);
    }
    Files.move(unfinished, folder.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
  }
}
