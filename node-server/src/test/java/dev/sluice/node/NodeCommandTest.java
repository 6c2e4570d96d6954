// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Command line of the JVM that {@code bin/sluice-node} starts, installed in a directory. */
class NodeCommandTest {
  private static final Path BIN = Path.of("..", "bin");
  private static final long TIMEOUT_S = 60;

  @TempDir private Path root;

  /** The JVM ends so that a supervisor starts it again, whatever other options are given. */
  @Test
  void aDaemonWithoutMemoryEnds() throws Exception {
    assertThat(output(List.of())).containsPattern("ExitOnOutOfMemoryError +=\\s*true");
  }

  /** Otherwise glibc would keep the buffers of ended applications, for each thread. */
  @Test
  void largeBuffersAreMappedHoweverManyWereFreed() throws Exception {
    String printed = "exec() { env; }; source \"$0\"";
    assertThat(output(List.of("-c", printed))).contains("MALLOC_MMAP_THRESHOLD_=131072\n");
  }

  /**
   * Output of the JVM, which prints its flags and ends.
   *
   * @param options of bash
   */
  private String output(List<String> options) throws Exception {
    Files.createDirectory(root.resolve("jars"));
    Path bin = Files.createDirectory(root.resolve("bin"));
    Path command = Files.copy(BIN.resolve("sluice-node"), bin.resolve("sluice-node"));
    Files.copy(BIN.resolve("lib.sh"), bin.resolve("lib.sh"));
    Path output = root.resolve("output");
    List<String> bash = new ArrayList<>(List.of("bash"));
    bash.addAll(options);
    bash.add(command.toString());
    ProcessBuilder builder = new ProcessBuilder(bash);
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
