// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Directory in which a Worker keeps the output of its executors: {@code
 * APPLICATION/EXECUTOR/stderr}. Unlike in the local directories next to it, nothing is deleted
 * here.
 */
public record WorkDirectory(Path directory) {

  /** Everything that executors have logged so far. */
  public String logs() throws IOException {
    StringBuilder logs = new StringBuilder();
    for (Path application : children(directory)) {
      logs.append(logs(application.getFileName().toString()));
    }
    return logs.toString();
  }

  /** Everything that an application's executors have logged so far. */
  public String logs(String applicationId) throws IOException {
    StringBuilder logs = new StringBuilder();
    for (Path executor : children(directory.resolve(applicationId))) {
      Path log = executor.resolve("stderr");
      if (Files.exists(log)) {
        // The last line may be incomplete: the file is still being written.
        logs.append(new String(Files.readAllBytes(log), StandardCharsets.UTF_8));
      }
    }
    return logs.toString();
  }

  private static List<Path> children(Path parent) throws IOException {
    if (Files.notExists(parent)) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(parent)) {
      return children.sorted().toList();
    }
  }
}
