// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.util.Objects.requireNonNull;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * A user of the operating system as whom root starts processes, as YARN's LinuxContainerExecutor
 * does. The three users exist on all Linux systems, because Hadoop needs their names. Immutable.
 *
 * @param name its name
 */
public record OtherUser(String name) {
  /** In the place of the NodeManager's user, and its group in the place of that user's group. */
  public static final OtherUser MANAGER = new OtherUser("daemon");

  /** In the place of an application's user. */
  public static final OtherUser OWNER = new OtherUser("bin");

  /** In the place of another application's user. */
  public static final OtherUser STRANGER = new OtherUser("nobody");

  private static final long TIMEOUT_S = 20;

  /**
   * Returns why no processes of other users can work in a directory; empty if they can. Lets them
   * into that directory.
   */
  public static String reasonAgainst(Path directory) throws IOException {
    if (!Commands.isRoot()) {
      return "only root can start processes of other users";
    }
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    return isOpen(directory) ? "" : "other users cannot reach " + directory;
  }

  /** Returns the command that starts another one as this user, with the umask of a container. */
  public List<String> launcher() throws IOException {
    return List.of(
        "setpriv",
        "--reuid=" + name,
        "--regid=" + group(),
        "--clear-groups",
        "sh",
        "-c",
        "umask 027 && exec \"$@\"",
        "sh");
  }

  private String group() throws IOException {
    return Commands.output(List.of("id", "-g", name), TIMEOUT_S).strip();
  }

  /** Returns the exit status of a command that this user runs. */
  public int run(String... command) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(launcher());
    all.addAll(List.of(command));
    return new ProcessBuilder(all).inheritIO().start().waitFor();
  }

  /**
   * Makes a directory of this user.
   *
   * @param group user with whose group it is made
   * @param mode its permissions, in octal digits
   */
  public Path makeDirectory(Path directory, OtherUser group, String mode) throws IOException {
    Commands.run(
        List.of(
            "install", "-d", "-o", name, "-g", group.group(), "-m", mode, directory.toString()));
    return directory;
  }

  /**
   * Returns a class path that all users may read. Links or copies jars that they may not read, and
   * copies folders, since a compiler may give its files to their owner alone.
   *
   * @param folder for the links; created if it is missing
   */
  public static String readable(String classPath, Path folder) throws IOException {
    Files.createDirectories(folder);
    List<String> entries = new ArrayList<>();
    for (String entry : classPath.split(File.pathSeparator)) {
      Path path = Path.of(entry);
      boolean isReady = !Files.exists(path) || Files.isRegularFile(path) && isOpen(path);
      Path ready = folder.resolve(entries.size() + "-" + path.getFileName());
      entries.add(isReady ? entry : copy(path, ready).toString());
    }
    return String.join(File.pathSeparator, entries);
  }

  private static Path copy(Path from, Path to) throws IOException {
    boolean isLinked =
        Files.isRegularFile(from)
            && mayAll(from, PosixFilePermission.OTHERS_READ)
            && Files.getFileStore(from).equals(Files.getFileStore(requireNonNull(to.getParent())));
    if (isLinked) {
      return Files.createLink(to, from.toRealPath());
    }
    Commands.run(List.of("cp", "-rL", from.toString(), to.toString()));
    Commands.run(List.of("chmod", "-R", "a+rX", to.toString()));
    return to;
  }

  private static boolean mayAll(Path path, PosixFilePermission permission) throws IOException {
    return Files.getPosixFilePermissions(path).contains(permission);
  }

  /** Returns true if all users may read a file, or list a directory. */
  private static boolean isOpen(Path path) throws IOException {
    Path real = path.toRealPath();
    if (!mayAll(real, PosixFilePermission.OTHERS_READ)) {
      return false;
    }
    Path folder = Files.isDirectory(real) ? real : real.getParent();
    while (folder != null && mayAll(folder, PosixFilePermission.OTHERS_EXECUTE)) {
      folder = folder.getParent();
    }
    return folder == null;
  }
}
