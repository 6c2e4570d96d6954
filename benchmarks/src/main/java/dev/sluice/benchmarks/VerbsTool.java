// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command bin/verbs as a process, for benchmarks that measure by it: {@code MeasuringTool} and
 * {@code RowReads}, on the command's thread. They start it, wait for it and destroy it.
 */
public final class VerbsTool {
  private VerbsTool() {}

  /** Returns the command line of bin/verbs with these arguments. */
  public static List<String> command(List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getenv("SLUICE_TOOLS_CLASSPATH"),
                "dev.sluice.verbs.tools.VerbsCommand"));
    command.addAll(arguments);
    return command;
  }

  /**
   * Returns true if a process of this machine listens on a TCP port. Reads the kernel's tables:
   * connecting is no way to check, since a server of bin/verbs or perftest takes only one
   * connection.
   */
  public static boolean isListening(int port) throws IOException {
    return isListening("tcp", port) || isListening("tcp6", port);
  }

  private static boolean isListening(String table, int port) throws IOException {
    Path path = Path.of("/proc/net", table);
    String pattern = ".*:%04X [0-9A-F:]+ 0A .*".formatted(port);
    return Files.exists(path)
        && Files.readAllLines(path).stream().anyMatch(line -> line.matches(pattern));
  }
}
