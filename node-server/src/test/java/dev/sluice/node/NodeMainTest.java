// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Command line of the daemon, in processes that end by themselves. */
class NodeMainTest {
  private static final long TIMEOUT_S = 60;

  /** Output of a process on both streams, and its exit status. */
  private record Ended(int status, List<String> lines) {}

  @TempDir Path directory;
  private final Map<String, String> environment = new HashMap<>();
  private Path data;

  @BeforeEach
  void open() throws Exception {
    data = Files.createDirectory(directory.resolve("data"));
  }

  private Ended run(String... arguments) throws Exception {
    Path output = directory.resolve("output");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Dlog4j2.configurationFile=../conf/sluice-node.log4j2.properties",
                "-cp",
                System.getProperty("java.class.path"),
                NodeMain.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).as("the process ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readAllLines(output, StandardCharsets.UTF_8));
  }

  private String[] settings(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "sluice.node.directories=" + data,
                "sluice.node.socket=" + directory.resolve("node.sock"),
                "sluice.node.host=127.0.0.1",
                "sluice.node.provider=soft",
                "sluice.node.ports=0",
                "sluice.node.minFreeBytes=1m",
                "sluice.node.http="));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private void assertMistake(String reason, String... arguments) throws Exception {
    Ended ended = run(arguments);
    assertThat(ended.lines())
        .filteredOn(line -> !line.contains(" INFO "))
        .singleElement()
        .asString()
        .startsWith("sluice-node: ")
        .contains(reason);
    assertThat(ended.status()).isEqualTo(2);
  }

  @Test
  void aMistakeInArgumentsIsOneLine() throws Exception {
    assertMistake("--chek", "--chek");
    assertMistake("--conf needs a FILE", "--conf");
    assertMistake(
        "/nosuch is not a readable file", "--conf", directory.resolve("nosuch").toString());
    assertMistake("did you mean sluice.node.ports?", settings("sluice.node.port=0"));
    assertMistake("sluice.node.provider is \"vebs\"", settings("sluice.node.provider=vebs"));
  }

  /** Settings that are allowed, but name resources that cannot be used. */
  @Test
  void unusableDirectoriesAreReportedInOneLine() throws Exception {
    assertMistake(
        "/nosuch: not a directory (sluice.node.directories)",
        settings("sluice.node.directories=" + data + "/nosuch"));
    Files.createFile(data.resolve(".sluice"));
    assertMistake("is a link or a file, not a directory", settings());
  }

  @Test
  void checkReportsItsFindingsAndStartsNothing() throws Exception {
    String[] settings = settings();
    List<String> arguments = new ArrayList<>(List.of("--check"));
    arguments.addAll(List.of(settings));
    Ended good = run(arguments.toArray(String[]::new));
    assertThat(good.lines())
        .anyMatch(line -> line.startsWith("ok    sluice.node.host: "))
        .anyMatch(line -> line.startsWith("ok    sluice.node.provider: soft"))
        .anyMatch(line -> line.startsWith("ok    " + data))
        .endsWith("The daemon can start.");
    assertThat(good.status()).isZero();
    assertThat(directory.resolve("node.sock")).doesNotExist();
    assertThat(data).isEmptyDirectory();

    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      arguments.add("sluice.node.http=127.0.0.1:" + taken.getLocalPort());
      arguments.add("sluice.node.directories=" + data + "," + data + "/nosuch");
      arguments.add("sluice.node.socket=/" + "x".repeat(107));
      Ended bad = run(arguments.toArray(String[]::new));
      assertThat(bad.lines())
          .anyMatch(line -> line.startsWith("warn  sluice.node.http: "))
          .anyMatch(line -> line.startsWith("fail  " + data + "/nosuch: "))
          .anyMatch(line -> line.startsWith("fail  sluice.node.socket: "))
          .endsWith("The daemon cannot start.");
      assertThat(bad.status()).isEqualTo(1);
    }
  }

  @Test
  void aCheckOfWrongSettingsFails() throws Exception {
    Ended ended = run("--check", "sluice.node.prots=0");
    assertThat(ended.lines().getFirst())
        .startsWith("fail  settings: ")
        .contains("did you mean sluice.node.ports?");
    assertThat(ended.status()).isEqualTo(1);
  }

  @Test
  void theLogMayBeAFile() throws Exception {
    Path log = directory.resolve("sluice-node.log");
    environment.put("SLUICE_NODE_APPENDER", "file");
    environment.put("SLUICE_NODE_LOG", log.toString());
    Ended ended = run(settings("sluice.node.directories=" + data + "/nosuch"));
    assertThat(ended.lines()).singleElement().asString().startsWith("sluice-node: ");
    assertThat(log).content().contains(" INFO ");
  }

  @Test
  void helpAndVersionAreShown() throws Exception {
    Ended help = run("--help");
    assertThat(help.status()).isZero();
    assertThat(help.lines()).contains("sluice.node.ports=7340-7399").hasSizeGreaterThan(40);
    Ended version = run("--version", "--supervised");
    assertThat(version.status()).isZero();
    assertThat(version.lines()).singleElement().asString().startsWith("sluice-node ");
  }
}
