// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.other;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/** JDKs of other releases on this machine. Tests that need one are skipped where there is none. */
public final class OtherJava {
  private static final Path JVMS = Path.of("/usr/lib/jvm");

  private OtherJava() {}

  /**
   * Returns the JAVA_HOME of a release; otherwise skips the test.
   *
   * @param release such as 21
   */
  public static Path home(int release) throws IOException {
    String name = "(java|jdk|temurin)-(1\\.)?%d\\b.*".formatted(release);
    try (Stream<Path> jvms =
        Stream.concat(list(JVMS), list(made(release).resolve(JVMS.toString().substring(1))))) {
      Path found =
          jvms.filter(jvm -> jvm.getFileName().toString().matches(name))
              .filter(jvm -> Files.isExecutable(jvm.resolve("bin/java")))
              .findFirst()
              .orElse(null);
      assumeTrue(found != null, "no Java " + release + " below " + JVMS + ", or by testbed/jdk");
      return found;
    }
  }

  /** Returns the folder in which {@code testbed/jdk} makes a JDK. */
  private static Path made(int release) {
    Map<String, String> environment = System.getenv();
    String caches =
        environment.getOrDefault(
            "XDG_CACHE_HOME", environment.getOrDefault("HOME", "/") + "/.cache");
    return Path.of(caches, "sluice", "jdk-" + release);
  }

  private static Stream<Path> list(Path folder) throws IOException {
    return Files.isDirectory(folder) ? Files.list(folder) : Stream.empty();
  }
}
