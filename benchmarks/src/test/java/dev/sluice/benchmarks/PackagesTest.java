// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages of all modules. */
class PackagesTest {
  private static final List<String> MODULES =
      List.of(
          "verbs",
          "examples/verbs",
          "verbs-tools",
          "rdma-net",
          "block-server",
          "node-server",
          "doctor",
          "shuffle-manager",
          "examples/spark",
          "yarn-service",
          "mapreduce",
          "mapreduce-reader",
          "testkit",
          "spark-tests",
          "cluster-tests",
          "chaos",
          "benchmarks",
          "examples/comet");

  /** Modules that only put jars of others together. */
  private static final Set<String> WITHOUT_CLASSES =
      Set.of("<module>testkit/hadoop-3.4</module>", "<module>node-dist</module>");

  @Test
  void eachPackageDocumentsItsPurpose() {
    Stream<String> undescribed =
        MODULES.stream()
            .flatMap(
                module ->
                    mainPackages(module)
                        .filter(folder -> !isDescribed(module, folder))
                        .map(folder -> module + ": " + folder));
    assertThat(undescribed).isEmpty();
  }

  @Test
  void noneIsInTwoModules() {
    assertThat(MODULES.stream().flatMap(PackagesTest::packagesOf)).doesNotHaveDuplicates();
  }

  @Test
  void allModulesAreLookedAt() throws IOException {
    assertThat(Files.readAllLines(Path.of("../pom.xml")).stream().map(String::strip))
        .filteredOn(line -> line.startsWith("<module>"))
        .filteredOn(line -> !WITHOUT_CLASSES.contains(line))
        .containsExactlyElementsOf(
            MODULES.stream().map(module -> "<module>" + module + "</module>").toList());
  }

  /** Packages of a module's main classes and of its tests. */
  private static Stream<Path> packagesOf(String module) {
    return Stream.concat(
            mainPackages(module), packages(Path.of("..", module, "src/test/java")).stream())
        .distinct();
  }

  private static Stream<Path> mainPackages(String module) {
    return mainSources(module).flatMap(sources -> packages(sources).stream()).distinct();
  }

  private static boolean isDescribed(String module, Path folder) {
    return mainSources(module)
        .anyMatch(sources -> Files.exists(sources.resolve(folder).resolve("package-info.java")));
  }

  /** Folders of sources; java17 has those that must load on any JVM of Spark. */
  private static Stream<Path> mainSources(String module) {
    return Stream.of("java", "java17").map(name -> Path.of("..", module, "src/main", name));
  }

  private static Set<Path> packages(Path sources) {
    if (Files.notExists(sources)) {
      return Set.of();
    }
    try (Stream<Path> files = Files.walk(sources)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .map(file -> sources.relativize(file.getParent()))
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
