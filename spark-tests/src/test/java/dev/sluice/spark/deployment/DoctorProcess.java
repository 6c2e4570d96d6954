// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import dev.sluice.spark.cluster.SparkHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The doctor, started from the drop-in jar alone. The caller that starts it closes it, which kills
 * it. For one thread.
 */
public final class DoctorProcess implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final Pattern SERVES = Pattern.compile("--peer HOST:(\\d+)");

  private final Process process;
  private final Path output;

  private DoctorProcess(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /**
   * Exit code and output of a doctor that has ended.
   *
   * @param exitCode see {@link dev.sluice.doctor.Finding#exitStatus}
   */
  public record Result(int exitCode, String output) {
    /** The lines of a level and a name, with the continuation lines below each. */
    public List<String> findings(String level, String name) {
      return Pattern.compile("(?m)^(?:" + level + ") +" + name + " .*(?:\\n {20}.*)*")
          .matcher(output)
          .results()
          .map(found -> found.group().replaceAll("\\s+", " "))
          .toList();
    }
  }

  /** The command line of the doctor in a jar, on this test's JVM. */
  public static List<String> command(Path jar, String... options) {
    return command(Path.of(System.getProperty("java.home")), jar, options);
  }

  static List<String> command(Path javaHome, Path jar, String... options) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(javaHome.resolve("bin/java").toString(), "-Xmx256m"));
    command.addAll(SparkHome.SHORT_LIVED);
    if (Runtime.version().feature() < 22) { // It ignores Enable-Native-Access of the manifest.
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.add("-jar");
    command.addAll(List.of(jar.toString(), "doctor"));
    command.addAll(List.of(options));
    return command;
  }

  /**
   * @param directory for its output
   * @param environment in addition to that of this test, which is passed on without Spark's
   *     variables
   */
  public static DoctorProcess start(
      Path directory, Map<String, String> environment, List<String> command) throws IOException {
    Path output = Files.createTempFile(directory, "doctor", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().keySet().removeIf(key -> key.startsWith("SPARK_"));
    builder.environment().putAll(environment);
    return new DoctorProcess(builder.start(), output);
  }

  public static Result run(Path directory, Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    try (DoctorProcess doctor = start(directory, environment, command)) {
      if (!doctor.process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("The doctor hangs: " + Files.readString(doctor.output));
      }
      return new Result(doctor.process.exitValue(), Files.readString(doctor.output));
    }
  }

  /** The port on which it serves, once it listens. */
  public int port() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (process.isAlive() && System.nanoTime() - deadline < 0) {
      Matcher port = SERVES.matcher(Files.readString(output));
      if (port.find()) {
        return Integer.parseInt(port.group(1));
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
    throw new IllegalStateException("The doctor does not serve: " + Files.readString(output));
  }

  @Override
  public void close() {
    try {
      process.destroyForcibly().waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
