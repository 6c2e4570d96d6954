// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Log lines of the modules that executors, node daemons and reduce tasks share. They name keys
 * without a prefix, and the fallback without its engine.
 */
class SharedMessagesTest {
  private static final List<String> SHARED = List.of("rdma-net", "block-server");

  /** One names the keys of each process, one documents keys, three are about keys of executors. */
  private static final Set<String> ALLOWED =
      Set.of(
          "ExecutorConf.java",
          "ExecutorSettings.java",
          "LockedMemory.java",
          "VerbsSettings.java",
          "RegistrationProbe.java");

  private static final Pattern OF_SPARK = Pattern.compile("\"[^\"\n]*(Spark|spark\\.shuffle)");

  @Test
  void messagesOfSharedClassesAreNotSparks() throws IOException {
    List<String> found = new ArrayList<>();
    for (String module : SHARED) {
      for (Path file : sources(Path.of("..", module, "src/main/java"))) {
        Files.readString(file)
            .lines()
            .filter(line -> OF_SPARK.matcher(line).find())
            .forEach(line -> found.add(file.getFileName() + ": " + line.strip()));
      }
    }
    assertThat(found).isEmpty();
  }

  private static List<Path> sources(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !ALLOWED.contains(file.getFileName().toString()))
          .toList();
    }
  }
}
