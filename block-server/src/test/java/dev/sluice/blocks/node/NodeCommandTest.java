package dev.sluice.blocks.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code bin/sluice-node} starts, where it is installed. */
class NodeCommandTest {
  private static final Path BIN = Path.of("..", "bin");
  private static final long TIMEOUT_S = 60;

  @TempDir private Path root;

  /** Its supervisor starts it again, whatever other options it is given. */
  @Test
  void aDaemonWithoutMemoryEnds() throws Exception {
    assertThat(flags()).containsPattern("ExitOnOutOfMemoryError +=\\s*true");
  }

  /** Of the JVM, which says them and ends. */
  private String flags() throws Exception {
    Files.createDirectory(root.resolve("jars"));
    Path bin = Files.createDirectory(root.resolve("bin"));
    Path command = Files.copy(BIN.resolve("sluice-node"), bin.resolve("sluice-node"));
    Files.copy(BIN.resolve("lib.sh"), bin.resolve("lib.sh"));
    Path output = root.resolve("output");
    ProcessBuilder builder = new ProcessBuilder("bash", command.toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("SLUICE_NODE_JAVA_OPTIONS", "-XX:+PrintFlagsFinal -version");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return Files.readString(output, StandardCharsets.UTF_8);
  }
}
