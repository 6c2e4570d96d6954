package dev.sluice.rdma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What the commands say to wrong arguments, and to machines and peers that are not there. */
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
        "bw --op atomic",
        "bw --iters 0",
        "bw --size -1",
        "lat --op write --events",
        "lat --tx-depth 0",
        "row --iters 0"
      })
  void wrongArgumentsAreStatus2WithAHint(String line) throws Exception {
    ToolRun run = ToolRun.finished(line.isEmpty() ? new String[0] : line.split(" "));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.errors()).startsWith("verbs").contains("--help'").doesNotContain("\tat ");
    assertThat(run.output()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"devices", "info", "watch", "pingpong", "rping", "bw", "lat", "row"})
  void everyCommandExplainsItself(String command) throws Exception {
    ToolRun run = ToolRun.finished(command, "--help");
    run.assertSuccess();
    assertThat(run.output()).startsWith("Usage: verbs " + command).contains("-h, --help");
  }

  @Test
  void nobodyConnectingIsAFailure() throws Exception {
    Deadline deadline = deadline("1");
    int port = FreePort.find();
    assertThat(catchMessage(() -> Rendezvous.open(null, port, deadline)))
        .isEqualTo("nobody connected to port " + port + " in time (--timeout)");
  }

  @Test
  void nobodyListeningIsAFailureThatNamesTheServer() throws Exception {
    int port = FreePort.find();
    assertThat(catchMessage(() -> Rendezvous.open("localhost", port, deadline("5"))))
        .startsWith("connecting to localhost:" + port + ": ");
  }

  @Test
  void aPortInUseIsAFailureThatNamesIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      int port = taken.getLocalPort();
      assertThat(catchMessage(() -> Rendezvous.open(null, port, deadline("5"))))
          .startsWith("listening on port " + port + ": ");
    }
  }

  private static Deadline deadline(String seconds) {
    Deadline deadline = new Deadline();
    new CommandLine(new Holder(deadline)).parseArgs("--timeout", seconds);
    return deadline;
  }

  @Command
  private static final class Holder {
    @Mixin private final Deadline deadline;

    Holder(Deadline deadline) {
      this.deadline = deadline;
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
