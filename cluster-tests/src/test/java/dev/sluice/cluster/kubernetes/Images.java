// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.kubernetes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads the Dockerfiles of {@code conf/kubernetes/images}. */
final class Images {
  static final Path DIRECTORY = Manifests.DIRECTORY.resolve("images");

  private Images() {}

  static List<Path> all() throws IOException {
    try (Stream<Path> files = Files.list(DIRECTORY)) {
      return files.sorted().toList();
    }
  }

  /** Returns the arguments of each use of an instruction, in order. */
  static List<List<String>> instructions(Path file, String name) throws IOException {
    return Files.readString(file)
        .replace("\\\n", " ")
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> Arrays.asList(line.substring(name.length()).strip().split("\\s+")))
        .toList();
  }

  /** Returns the version after the first mention of an artifact in a POM, or of a property. */
  static String version(String name, Path pom) throws IOException {
    Matcher matcher =
        Pattern.compile(
                "<artifactId>%1$s</artifactId>\\s*<version>(.+?)</version>|<%1$s>(.+?)</%1$s>"
                    .formatted(Pattern.quote(name)))
            .matcher(Files.readString(pom));
    if (!matcher.find()) {
      throw new IOException(pom + " has no version of " + name);
    }
    return matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
  }
}
