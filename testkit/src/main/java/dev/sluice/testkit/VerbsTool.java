// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The command bin/verbs as a process, for benchmarks that measure by it: {@code MeasuringTool} and
 * {@code RowCommand}, on the command's thread. They start it, wait for it and destroy it.
 */
public final class VerbsTool {
  private VerbsTool() {}

  /** Returns the command line of bin/verbs with these arguments, to which more may be added. */
  public static List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-cp", System.getenv("SLUICE_TOOLS_CLASSPATH")));
    command.add("dev.sluice.verbs.tools.VerbsCommand");
    command.addAll(arguments);
    return command;
  }

  /**
   * Waits until servers of this machine listen on TCP ports. Reads the kernel's tables: connecting
   * is no way to check, since a server of bin/verbs or perftest takes only one connection.
   *
   * @param ports number of ports
   * @throws IOException if a server ends first, or the time is over
   */
  public static void awaitListening(
      List<Process> servers, int firstPort, int ports, long timeoutSeconds)
      throws IOException, InterruptedException {
    Poll.until(
        TimeUnit.SECONDS.toMillis(timeoutSeconds),
        () -> listen(firstPort, ports) || !servers.stream().allMatch(Process::isAlive));
    if (!listen(firstPort, ports)) {
      throw new IOException("no server listens on port " + firstPort + "; see its messages above");
    }
  }

  private static boolean listen(int firstPort, int ports) throws IOException {
    List<String> sockets = new ArrayList<>();
    for (String table : List.of("tcp", "tcp6")) {
      Path path = Path.of("/proc/net", table);
      sockets.addAll(Files.exists(path) ? Files.readAllLines(path) : List.of());
    }
    for (int port = firstPort; port < firstPort + ports; port++) {
      String pattern = ".*:%04X [0-9A-F:]+ 0A .*".formatted(port);
      if (sockets.stream().noneMatch(line -> line.matches(pattern))) {
        return false;
      }
    }
    return true;
  }
}
