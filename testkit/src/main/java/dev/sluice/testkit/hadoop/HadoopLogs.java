// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit.hadoop;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.sluice.testkit.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Logs of all processes of a cluster, which {@link HadoopCluster} reads for its caller. Immutable.
 *
 * @param directory the cluster's folder
 */
record HadoopLogs(Path directory) {
  private static final Set<String> LOGS =
      Set.of("stderr", "process.log", "sluice-node.log", "sluice-node.out");

  /** Last lines of each log in {@link #ends}. */
  private static final int LINES = 30;

  /** Returns the last lines of each log. */
  String ends() throws IOException {
    StringBuilder logs = new StringBuilder();
    for (Path log : Directories.files(directory, LOGS::contains)) {
      List<String> lines = Files.readAllLines(log, ISO_8859_1);
      logs.append(log).append(":\n");
      lines.stream()
          .skip(Math.max(0, lines.size() - LINES))
          .forEach(line -> logs.append("  ").append(line).append('\n'));
    }
    return logs.toString();
  }

  /** Returns the lines that have a text. */
  List<String> lines(String text) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path log : Directories.files(directory, LOGS::contains)) {
      Files.readAllLines(log, ISO_8859_1).stream()
          .filter(line -> line.contains(text))
          .forEach(lines::add);
    }
    return lines;
  }
}
