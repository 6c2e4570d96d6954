package dev.sluice.rdma.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A program of the distribution that runs beside the test, which closes it. */
final class CProgram implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 60;

  private final String name;
  private final Path out;
  private final Path err;
  private final Process process;

  private CProgram(String name, Path out, Path err, Process process) {
    this.name = name;
    this.out = out;
    this.err = err;
    this.process = process;
  }

  /** Starts a program; skips the test where it is not installed. */
  static CProgram start(Path directory, String name, String... arguments) throws IOException {
    Assumptions.assumeTrue(
        isInstalled(name), name + " is not installed: packages ibverbs-utils and rdmacm-utils");
    Path out = Files.createTempFile(directory, name, ".out");
    Path err = Files.createTempFile(directory, name, ".err");
    Process process =
        new ProcessBuilder(Stream.concat(Stream.of(name), Stream.of(arguments)).toList())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    return new CProgram(name, out, err, process);
  }

  private static boolean isInstalled(String name) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }

  /** Waits for its end, with status 0; returns its standard output. */
  String finished() throws IOException, InterruptedException {
    awaitEnd();
    assertThat(process.exitValue()).as(output()).isZero();
    return standardOutput();
  }

  /**
   * Waits for its end, with status 0 or with an error known to be its own; as {@link #finished}.
   */
  String finishedOrFailedBy(String error) throws IOException, InterruptedException {
    awaitEnd();
    return output().strip().endsWith(error) ? standardOutput() : finished();
  }

  private void awaitEnd() throws IOException, InterruptedException {
    assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS))
        .as("%s ends; so far: %s", name, output())
        .isTrue();
  }

  private String standardOutput() throws IOException {
    return Files.readString(out, StandardCharsets.UTF_8);
  }

  /** All that it has printed so far, with what went to standard error at the end. */
  String output() throws IOException {
    return standardOutput() + Files.readString(err, StandardCharsets.UTF_8);
  }

  /** Waits for somebody to listen on a TCP port, as the kernel's tables have it. */
  static void awaitListening(int port) throws IOException, InterruptedException {
    String listening = ":%04X [0-9A-F:]+ 0A ".formatted(port);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (Stream.of("tcp", "tcp6").noneMatch(table -> contains(table, listening))) {
      assertThat(System.nanoTime()).as("waiting for port %d", port).isLessThan(deadline);
      Thread.sleep(10);
    }
  }

  private static boolean contains(String table, String pattern) {
    try {
      List<String> lines = Files.readAllLines(Path.of("/proc/net", table));
      return lines.stream().anyMatch(line -> line.matches(".*" + pattern + ".*"));
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
