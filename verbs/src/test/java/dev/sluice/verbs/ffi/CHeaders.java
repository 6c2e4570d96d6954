// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ffi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The C headers and libraries of one release of rdma-core. It is the installed release, or a
 * release in a folder that {@code .ci/check-headers} fills.
 *
 * @param root folder that holds {@code usr/include}
 */
public record CHeaders(Path root) {
  /** First release with every name of the binding; older releases may lack some. */
  static final int COMPLETE_SINCE = 44;

  /** Last release that was compared with the binding by hand; later ones may have more names. */
  static final int KNOWN_UNTIL = 65;

  static final CHeaders INSTALLED = new CHeaders(Path.of("/"));

  private static final String FOLDER = "sluice.headers";
  private static final List<String> LIBRARY_FOLDERS =
      List.of("usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib");

  /** Returns the installed headers, and each release in the folder. */
  public static Stream<CHeaders> all() throws IOException {
    return Stream.concat(Stream.of(INSTALLED), others().stream());
  }

  /** Returns the known releases in the folder; none if there is no such folder. */
  public static List<CHeaders> others() throws IOException {
    if (!Files.isDirectory(folder())) {
      return List.of();
    }
    try (Stream<Path> releases = Files.list(folder())) {
      return releases
          .filter(release -> Files.isDirectory(release.resolve("usr/include/infiniband")))
          .sorted()
          .map(CHeaders::new)
          .filter(CHeaders::isKnown)
          .toList();
    }
  }

  /** Returns the folder: the system property {@code sluice.headers}, else a folder of the cache. */
  public static Path folder() {
    String cache = System.getenv("XDG_CACHE_HOME");
    Path caches =
        cache == null ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(cache);
    return Path.of(System.getProperty(FOLDER, caches.resolve("sluice/headers").toString()));
  }

  /** Returns options for gcc. The installed headers come after a cross compiler's own headers. */
  List<String> options() {
    return this == INSTALLED
        ? List.of("-idirafter", "/usr/include")
        : List.of("-isystem", root.resolve("usr/include").toString());
  }

  /** Returns the release of rdma-core, such as 44. An unknown release counts as complete. */
  int release() throws IOException {
    for (String folder : LIBRARY_FOLDERS) {
      Path description = root.resolve(folder).resolve("pkgconfig/libibverbs.pc");
      if (Files.exists(description)) {
        for (String line : Files.readAllLines(description)) {
          if (line.startsWith("Version: ")) {
            return Integer.parseInt(line.split("\\.")[2]);
          }
        }
      }
    }
    return COMPLETE_SINCE;
  }

  /** True if a name that this release lacks is an error. */
  boolean isComplete() throws IOException {
    return release() >= COMPLETE_SINCE;
  }

  /** True if all functions and members of the release were reviewed. Prints a line if not. */
  boolean isKnown() {
    try {
      boolean known = release() <= KNOWN_UNTIL;
      if (!known) {
        System.out.println(this + " is not compared: it is newer than " + KNOWN_UNTIL);
      }
      return known;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the library with this soname, one or none. */
  public Stream<Path> libraries(String soname) {
    return LIBRARY_FOLDERS.stream()
        .map(folder -> root.resolve(folder, soname))
        .filter(Files::exists)
        .limit(1);
  }

  @Override
  public String toString() {
    try {
      return "rdma-core " + release() + " in " + root;
    } catch (IOException e) {
      return root.toString();
    }
  }
}
