// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The jar that users drop in holds our classes, all but those of the command-line tools, the name
 * of the history server's plug-in, and nothing else.
 */
final class DropInJarIT {
  private static final int JAVA_21 = 65;
  private static final int JAVA_17 = 61;
  private static final String ENTRY_POINT =
      "dev/sluice/(doctor/[\\w-]+|spark/(doctor/[\\w-]+|ui/[\\w-]+"
          + "|Node(Configuration|ShuffleDataIO)|RdmaShuffle(Manager)?|StockShuffle))";

  /** Spark's history server finds the tab by it. */
  private static final String SERVICE =
      "META-INF/services/org.apache.spark.status.AppHistoryServerPlugin";

  private static final String TOOLS = "dev/sluice/verbs/tools/";
  private static final List<String> MODULES =
      List.of("verbs", "rdma-net", "block-server", "doctor", "shuffle-manager");

  @Test
  void holdsOnlyOurClassesTheManifestAndLicences() throws IOException {
    assertThat(entries())
        .allMatch(
            name ->
                name.matches("dev/sluice/.+\\.class")
                    || name.equals("META-INF/MANIFEST.MF")
                    || name.equals(SERVICE)
                    || name.matches("META-INF/(LICENSE|NOTICE)(\\.\\w+)?"));
  }

  @Test
  void holdsEveryClassOfEveryModuleExceptTheCommandLineTools() throws IOException {
    assertThat(entries()).noneMatch(name -> name.startsWith(TOOLS));
    for (String module : MODULES) {
      assertThat(classesOf(module)).as("classes of %s", module).isNotEmpty();
      assertThat(entries()).as("classes of %s", module).containsAll(classesOf(module));
    }
  }

  @Test
  void theManifestTellsVersionAndCommit() throws IOException {
    boolean hasCommits = Files.exists(DropInJar.project().resolve(".git"));
    assertThat(DropInJar.version())
        .matches("\\d+\\.\\d+\\.\\d+(-\\w+)?\\+" + (hasCommits ? "[0-9a-f]{8}" : "unknown"));
  }

  /** No class has the mark of previews, which binds a class to the release that compiled it. */
  @Test
  void needsJava21ExceptForTheEntryPointsWhichTellOlderOnes() throws IOException {
    try (JarFile jar = new JarFile(DropInJar.path().toFile())) {
      for (JarEntry entry : jar.stream().filter(e -> e.getName().endsWith(".class")).toList()) {
        int expected = isEntryPoint(entry) ? JAVA_17 : JAVA_21;
        assertThat(classFileVersion(jar, entry)).as(entry.getName()).isEqualTo(expected);
      }
      assertThat(jar.stream()).anyMatch(DropInJarIT::isEntryPoint);
    }
  }

  /** The class, or one nested in it. */
  private static boolean isEntryPoint(JarEntry entry) {
    return entry.getName().matches(ENTRY_POINT + "(\\$\\w+)*\\.class");
  }

  private static int classFileVersion(JarFile jar, JarEntry entry) throws IOException {
    try (DataInputStream in = new DataInputStream(jar.getInputStream(entry))) {
      in.skipNBytes(Integer.BYTES); // the magic number
      return in.readInt(); // the minor version, which previews have, and the major one
    }
  }

  private static List<String> entries() throws IOException {
    try (JarFile jar = new JarFile(DropInJar.path().toFile())) {
      return jar.stream().filter(e -> !e.isDirectory()).map(JarEntry::getName).toList();
    }
  }

  private static List<String> classesOf(String module) throws IOException {
    Path classes = DropInJar.project().resolve(module).resolve("target/classes");
    try (Stream<Path> files = Files.walk(classes)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .map(file -> classes.relativize(file).toString())
          .filter(name -> !name.startsWith(TOOLS))
          .toList();
    }
  }
}
