// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Both sides of bw and lat are commands of this module, and the data arrive. */
@NeedsRdmaDevice
final class PerfTest {
  @ParameterizedTest
  @CsvSource({
    "bw, read, 1",
    "bw, read, 16",
    "bw, write, 1",
    "bw, send, 1",
    "bw, fetch_add, 1",
    "bw, cmp_swap, 16",
    "lat, fetch_add, 1",
    "lat, cmp_swap, 1",
    "lat, read, 1",
    "lat, send, 1"
  })
  void measuresWithBothSidesAsleepBetweenCompletions(String test, String operation, String group)
      throws Exception {
    List<String> options = new ArrayList<>(List.of("-o", operation, "-e", "-n", "300"));
    if (test.equals("bw")) {
      options.addAll(List.of("--cq-mod", group));
    }
    String output = run(test, options.toArray(String[]::new));
    assertThat(output).contains("#iterations").containsPattern("\\s300\\s");
  }

  /** The target of a WRITE can only poll its memory. */
  @Test
  void measuresTheLatencyOfWrites() throws Exception {
    assertThat(run("lat", "-o", "write", "-n", "20")).containsPattern("\\s20\\s");
  }

  @Test
  void measuresForAGivenTime() throws Exception {
    String output = run("bw", "-e", "-D", "1", "--warm-up", "0", "--cq-mod", "8");
    assertThat(output).containsPattern("65536 +\\d+ +\\d+\\.\\d+");
  }

  @Test
  void printsTheResultAsJson() throws Exception {
    assertThat(run("bw", "-e", "-n", "10", "--json"))
        .contains("\"op\":\"read\",\"completion\":\"events\",\"bytes\":65536,\"iterations\":10,");
    assertThat(run("lat", "-e", "-n", "10", "--json"))
        .contains("\"bytes\":2,\"iterations\":10,", "\"p99Usec\":");
  }

  @Test
  void bothSidesMustBeTheSameCommand() throws Exception {
    int port = FreePort.find();
    ToolRun server = ToolRun.start("bw", "-p", "" + port);
    CProgram.awaitListening(port);
    ToolRun client = ToolRun.finished("lat", "-p", "" + port, "localhost");
    assertThat(client.status()).isEqualTo(1);
    assertThat(server.status()).isEqualTo(1);
    assertThat(server.errors()).contains("the peer does not run the same command");
  }

  /** Runs both sides and returns the client's output. */
  private static String run(String command, String... options) throws Exception {
    String port = "" + FreePort.find();
    ToolRun server = ToolRun.start(command, "-p", port);
    CProgram.awaitListening(Integer.parseInt(port));
    Stream<String> arguments = Stream.of(command, "-p", port);
    ToolRun client =
        ToolRun.finished(
            Stream.of(arguments, Stream.of(options), Stream.of("localhost"))
                .flatMap(s -> s)
                .toArray(String[]::new));
    client.assertSuccess();
    server.assertSuccess();
    return client.output();
  }
}
