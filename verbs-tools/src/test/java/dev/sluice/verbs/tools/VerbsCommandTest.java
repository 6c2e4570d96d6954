// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.examples.Deadline;
import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands report wrong arguments, and missing devices and peers, in one line. */
final class VerbsCommandTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "devices extra",
        "info --ib-port x",
        "pingpong --type tcp",
        "pingpong --iters 0",
        "pingpong --size 0",
        "pingpong --type srq --num-qp 257",
        "pingpong --type srq --num-qp 16 --rx-depth 8",
        "xsrq-pingpong --clients 0",
        "bw --op atomic",
        "bw --op fetch_add --size 4",
        "bw --iters 0",
        "bw --size -1",
        "bw --outs 0",
        "lat --op write --events",
        "lat --tx-depth 0",
        "lat --warm-up -1",
        "mckey --count 0 239.1.2.3",
        "udaddy --size 0",
        "client",
        "server --clients 0",
        "server --srq",
        "mckey"
      })
  void wrongArgumentsAreStatus2WithAHint(String line) throws Exception {
    ToolRun run = ToolRun.finished(line.isEmpty() ? new String[0] : line.split(" "));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.errors()).startsWith("verbs").contains("see --help").hasLineCount(1);
    assertThat(run.output()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "devices",
        "info",
        "watch",
        "pingpong",
        "xsrq-pingpong",
        "rping",
        "client",
        "server",
        "mckey",
        "udaddy",
        "bw",
        "lat"
      })
  void everyCommandExplainsItself(String command) throws Exception {
    ToolRun run = ToolRun.finished(command, "--help");
    run.assertSuccess();
    assertThat(run.output()).startsWith("Usage: verbs " + command).contains("-h, --help");
  }

  @Test
  void aMissingClientIsAFailure() throws Exception {
    Deadline deadline = Deadline.in(1);
    int port = FreePort.find();
    assertThat(catchMessage(() -> Rendezvous.open(null, port, 1, deadline).getFirst()))
        .isEqualTo("no client connected to port " + port + " in time");
  }

  @Test
  void aMissingServerIsAFailureThatNamesIt() throws Exception {
    int port = FreePort.find();
    assertThat(catchMessage(() -> Rendezvous.open("localhost", port, 1, Deadline.in(5)).getFirst()))
        .startsWith("connecting to localhost:" + port + ": ");
  }

  @Test
  void aPortInUseIsAFailureThatNamesIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      int port = taken.getLocalPort();
      assertThat(catchMessage(() -> Rendezvous.open(null, port, 1, Deadline.in(5)).getFirst()))
          .startsWith("listening on port " + port + ": ");
    }
  }

  private interface Action {
    AutoCloseable run() throws Exception;
  }

  private static String catchMessage(Action action) throws Exception {
    try (AutoCloseable opened = action.run()) {
      return "no failure: " + opened;
    } catch (IOException e) {
      return e.getMessage();
    }
  }
}
