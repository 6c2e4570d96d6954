// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A program of the distribution that runs in parallel with the test. The test closes it. */
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

  /** Starts a program; skips the test if it is not installed. */
  static CProgram start(Path directory, String name, String... arguments) throws IOException {
    Assumptions.assumeTrue(
        isInstalled(name), name + " is not installed: packages ibverbs-utils and rdmacm-utils");
    String file = Path.of(name).getFileName().toString();
    Path out = Files.createTempFile(directory, file, ".out");
    Path err = Files.createTempFile(directory, file, ".err");
    Process process =
        new ProcessBuilder(Stream.concat(Stream.of(name), Stream.of(arguments)).toList())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    return new CProgram(name, out, err, process);
  }

  /** Compiles a C source next to this class with libibverbs; skips the test without a compiler. */
  static Path compiled(Path directory, String source) throws IOException, InterruptedException {
    Assumptions.assumeTrue(isInstalled("gcc"), "gcc is not installed");
    Assumptions.assumeTrue(
        Files.exists(Path.of("/usr/include/infiniband/verbs.h")),
        "libibverbs-dev is not installed");
    Path file = directory.resolve(source);
    try (InputStream in = CProgram.class.getResourceAsStream(source)) {
      Files.copy(in, file);
    }
    String program = directory.resolve(source.replace(".c", "")).toString();
    try (CProgram gcc =
        start(directory, "gcc", "-Wall", "-o", program, file.toString(), "-libverbs")) {
      gcc.finished();
    }
    return Path.of(program);
  }

  private static boolean isInstalled(String name) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(name)));
  }

  /** Waits for the end with status 0 and returns standard output. */
  String finished() throws IOException, InterruptedException {
    awaitEnd();
    assertThat(process.exitValue()).as(output()).isZero();
    return standardOutput();
  }

  /**
   * Waits for the end with status 0, or with a known error of the program itself; see {@link
   * #finished}.
   */
  String finishedOrFailedBy(String error) throws IOException, InterruptedException {
    awaitEnd();
    return output().strip().endsWith(error) ? standardOutput() : finished();
  }

  /** Waits for the end with status 1 and returns all output. */
  String failed() throws IOException, InterruptedException {
    awaitEnd();
    assertThat(process.exitValue()).as(output()).isEqualTo(1);
    return output();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  private void awaitEnd() throws IOException, InterruptedException {
    assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS))
        .as("%s ends; so far: %s", name, output())
        .isTrue();
  }

  private String standardOutput() throws IOException {
    return Files.readString(out, StandardCharsets.UTF_8);
  }

  /** Returns all output so far: standard output, then standard error. */
  String output() throws IOException {
    return standardOutput() + Files.readString(err, StandardCharsets.UTF_8);
  }

  /** Waits until the kernel's tables show a listener on a TCP port. */
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
