// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import java.io.File;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The RC example runs between two processes, started as a reader would start it. */
@NeedsRdmaDevice
final class RcExampleTest {
  /** GID index of the first IPv4 address of a soft-RoCE port. */
  private static final String GID_INDEX = "1";

  private static final long DEADLINE_SECONDS = 90;

  @TempDir private Path directory;

  @Test
  void theServerSendsAndTheClientReadsAndWrites() throws Exception {
    String port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = "" + free.getLocalPort();
    }
    File serverOutput = directory.resolve("server").toFile();
    File clientOutput = directory.resolve("client").toFile();
    Process server = start(serverOutput, "-", port, "", GID_INDEX);
    try {
      awaitListening(Integer.parseInt(port), server);
      Process client = start(clientOutput, "127.0.0.1", port, "", GID_INDEX);
      try {
        assertThat(finished(client, clientOutput))
            .contains("Message is: 'SEND operation      '")
            .contains("Contents of server's buffer: 'RDMA read operation '");
        assertThat(finished(server, serverOutput))
            .contains("Contents of server buffer: 'RDMA write operation'");
      } finally {
        client.destroyForcibly();
      }
    } finally {
      server.destroyForcibly();
    }
  }

  private static Process start(File output, String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                RcExample.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
  }

  /** Reads the kernel's table, because the server would take a connection for the client's. */
  private static void awaitListening(int port, Process server) throws Exception {
    String listening = ":%04X ".formatted(port);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!isListening(listening)) {
      assertThat(server.isAlive()).as("the server runs").isTrue();
      assertThat(System.nanoTime()).as("waiting for the server").isLessThan(deadline);
      Thread.sleep(20);
    }
  }

  private static boolean isListening(String port) throws Exception {
    for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      if (Files.readAllLines(Path.of(table)).stream()
          .anyMatch(line -> line.contains(port) && line.contains(" 0A "))) {
        return true;
      }
    }
    return false;
  }

  private static String finished(Process process, File output) throws Exception {
    boolean ended = process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
    String text = Files.readString(output.toPath(), StandardCharsets.UTF_8);
    assertThat(ended).as("the process ends; so far: %s", text).isTrue();
    assertThat(process.exitValue()).as(text).isZero();
    return text;
  }
}
