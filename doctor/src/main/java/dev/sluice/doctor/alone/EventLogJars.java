// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

import dev.sluice.doctor.check.SparkHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Jars of Spark that read event logs. {@link AloneLoader} asks for them on the main thread, as the
 * drop-in jar has none of them.
 */
final class EventLogJars {
  private static final List<String> NAMES =
      List.of("jackson-core-", "zstd-jni-", "lz4-java-", "snappy-java-", "compress-lzf-");

  private EventLogJars() {}

  /** Returns the jars; empty if this node has no Spark. */
  static List<Path> of(Map<String, String> environment) throws IOException {
    Optional<Path> jars =
        SparkHome.of(environment).map(home -> home.resolve("jars")).filter(Files::isDirectory);
    if (jars.isEmpty()) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(jars.get())) {
      return files.filter(EventLogJars::isNeeded).sorted().toList();
    }
  }

  private static boolean isNeeded(Path jar) {
    return NAMES.stream().anyMatch(jar.getFileName().toString()::startsWith);
  }
}
