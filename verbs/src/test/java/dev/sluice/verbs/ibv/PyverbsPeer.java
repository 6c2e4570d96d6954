// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * A process with a queue pair and a region of rdma-core's own binding: {@code pyverbs_peer.py},
 * which a test controls. The test closes it, which ends the process.
 */
final class PyverbsPeer implements AutoCloseable {
  /** The distribution's Python, which its python3-pyverbs belongs to. */
  private static final String PYTHON = "/usr/bin/python3";

  final int qpNum;
  final long address;
  final int rkey;

  private final Process process;
  private final BufferedReader answers;
  private final PrintWriter commands;

  /**
   * @param directory directory for the script
   * @param type {@code rc}, {@code uc} or {@code ud}
   * @param length bytes of the region
   */
  PyverbsPeer(Path directory, String device, IbvGidEntry gid, String type, int length)
      throws Exception {
    Path script = directory.resolve("pyverbs_peer.py");
    try (InputStream source = PyverbsPeer.class.getResourceAsStream("pyverbs_peer.py")) {
      Files.copy(source, script);
    }
    process =
        new ProcessBuilder(
                PYTHON,
                script.toString(),
                device,
                Integer.toString(gid.index()),
                type,
                Integer.toString(length))
            .redirectError(Redirect.INHERIT)
            .start();
    answers = process.inputReader(StandardCharsets.US_ASCII);
    commands = new PrintWriter(process.outputWriter(StandardCharsets.US_ASCII), true);
    String[] description = answer().split(" ");
    qpNum = Integer.parseInt(description[0]);
    address = Long.parseLong(description[1]);
    rkey = Integer.parseUnsignedInt(description[2]);
  }

  static boolean isInstalled() throws InterruptedException {
    try {
      Process check =
          new ProcessBuilder(PYTHON, "-c", "import pyverbs.device")
              .redirectError(Redirect.DISCARD)
              .start();
      return check.waitFor(IbvTestCase.DEADLINE_MS, TimeUnit.MILLISECONDS)
          && check.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Sends a command to the peer and returns its answer. */
  String tell(String command, Object... arguments) throws Exception {
    StringBuilder line = new StringBuilder(command);
    for (Object argument : arguments) {
      line.append(' ').append(argument);
    }
    commands.println(line);
    return answer();
  }

  private String answer() throws Exception {
    FutureTask<String> read = new FutureTask<>(answers::readLine);
    Thread.ofPlatform().daemon().start(read);
    String line = read.get(IbvTestCase.DEADLINE_MS, TimeUnit.MILLISECONDS);
    assertThat(line).as("answer of the peer, which says above why it ended").isNotNull();
    return line;
  }

  /** Closes the command stream, which ends the peer. */
  @Override
  public void close() {
    commands.close();
    try {
      assertThat(process.onExit()).succeedsWithin(Duration.ofMillis(IbvTestCase.DEADLINE_MS));
    } finally {
      process.destroyForcibly();
    }
  }
}
