package dev.sluice.rdma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Our ping-pong plays with the C programs, in both roles, and each side checks the data. */
@NeedsRdmaDevice
final class PingPongInteropTest {
  /** The GID that our side finds by itself: the first IPv4 address. */
  private static final String GID_INDEX = "1";

  private static final String EVENTS = "-e";
  private static final int ITERS = 200;

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"RC", "UC", "UD", "SRQ"})
  void ourClientPlaysWithTheServerInC(PingPongType type) throws Exception {
    int port = FreePort.find();
    try (CProgram server = CProgram.start(directory, program(type), forC(port))) {
      CProgram.awaitListening(port);
      ToolRun client = ToolRun.finished(ours(type, port, "localhost"));
      client.assertSuccess();
      assertThat(client.output()).contains(ITERS + " iters");
      assertThat(server.finished()).contains(ITERS + " iters").doesNotContain("invalid data");
    }
  }

  @ParameterizedTest
  @CsvSource({"RC", "UC", "UD", "SRQ"})
  void theClientInCPlaysWithOurServer(PingPongType type) throws Exception {
    int port = FreePort.find();
    ToolRun server = ToolRun.start(ours(type, port));
    CProgram.awaitListening(port);
    try (CProgram client = CProgram.start(directory, program(type), forC(port, "localhost"))) {
      assertThat(client.finished()).contains(ITERS + " iters");
      server.assertSuccess();
      assertThat(server.output()).contains(ITERS + " iters");
    }
  }

  @ParameterizedTest
  @CsvSource({"RC", "UC", "UD", "SRQ"})
  void oursPlayWithEachOther(PingPongType type) throws Exception {
    int port = FreePort.find();
    ToolRun server = ToolRun.start(ours(type, port));
    CProgram.awaitListening(port);
    ToolRun.finished(ours(type, port, "localhost")).assertSuccess();
    server.assertSuccess();
  }

  private static String program(PingPongType type) {
    return "ibv_" + type.name().toLowerCase(Locale.ROOT) + "_pingpong";
  }

  private static String[] forC(int port, String... server) {
    List<String> arguments = new ArrayList<>(common(port));
    arguments.addAll(List.of("-g", GID_INDEX));
    arguments.addAll(List.of(server));
    return arguments.toArray(String[]::new);
  }

  private static String[] ours(PingPongType type, int port, String... server) {
    List<String> arguments = new ArrayList<>(List.of("pingpong", "--type", type.name()));
    arguments.addAll(common(port));
    arguments.addAll(List.of(server));
    return arguments.toArray(String[]::new);
  }

  private static List<String> common(int port) {
    return List.of("-p", "" + port, "-n", "" + ITERS, "-c", EVENTS);
  }
}
