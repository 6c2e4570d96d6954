// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ping-pong command plays with the C programs, in both roles. Each side checks the data. */
@NeedsRdmaDevice
final class PingPongInteropTest {
  /** GID index that the command chooses by itself: the first IPv4 address. */
  private static final String GID_INDEX = "1";

  private static final String EVENTS = "-e";
  private static final int ITERS = 200;

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"RC,", "UC,", "UD,", "SRQ,", "RC,-N", "UC,-N", "UD,-N", "SRQ,-N"})
  void ourClientPlaysWithTheServerInC(PingPong.Type type, String ext) throws Exception {
    int port = FreePort.find();
    try (CProgram server = CProgram.start(directory, program(type), forC(type, ext, port))) {
      CProgram.awaitListening(port);
      ToolRun client = ToolRun.finished(ours(type, ext, port, "localhost"));
      client.assertSuccess();
      assertThat(client.output()).contains(ITERS + " iters");
      assertThat(server.finished()).contains(ITERS + " iters").doesNotContain("invalid data");
    }
  }

  @ParameterizedTest
  @CsvSource({"RC,", "UC,", "UD,", "SRQ,", "RC,-N", "UC,-N", "UD,-N", "SRQ,-N"})
  void theClientInCPlaysWithOurServer(PingPong.Type type, String ext) throws Exception {
    int port = FreePort.find();
    ToolRun server = ToolRun.start(ours(type, ext, port));
    CProgram.awaitListening(port);
    try (CProgram client =
        CProgram.start(directory, program(type), forC(type, ext, port, "localhost"))) {
      assertThat(client.finished()).contains(ITERS + " iters");
      server.assertSuccess();
      assertThat(server.output()).contains(ITERS + " iters");
    }
  }

  @ParameterizedTest
  @CsvSource({"RC,", "UC,", "UD,", "SRQ,", "RC,-N", "UC,-N", "UD,-N", "SRQ,-N"})
  void oursPlayWithEachOther(PingPong.Type type, String ext) throws Exception {
    int port = FreePort.find();
    ToolRun server = ToolRun.start(ours(type, ext, port));
    CProgram.awaitListening(port);
    ToolRun.finished(ours(type, ext, port, "localhost")).assertSuccess();
    server.assertSuccess();
  }

  private static String program(PingPong.Type type) {
    return "ibv_" + type.name().toLowerCase(Locale.ROOT) + "_pingpong";
  }

  /** Returns arguments for the C program; only one C program has the work request API. */
  private static String[] forC(PingPong.Type type, String ext, int port, String... server) {
    List<String> arguments = new ArrayList<>(common(port));
    if (ext != null && type == PingPong.Type.RC) {
      arguments.add(ext);
    }
    arguments.addAll(List.of("-g", GID_INDEX));
    arguments.addAll(List.of(server));
    return arguments.toArray(String[]::new);
  }

  private static String[] ours(PingPong.Type type, String ext, int port, String... server) {
    List<String> arguments = new ArrayList<>(List.of("pingpong", "--type", type.name()));
    if (ext != null) {
      arguments.add(ext);
    }
    arguments.addAll(common(port));
    arguments.addAll(List.of(server));
    return arguments.toArray(String[]::new);
  }

  private static List<String> common(int port) {
    return List.of("-p", "" + port, "-n", "" + ITERS, "-c", EVENTS);
  }
}
