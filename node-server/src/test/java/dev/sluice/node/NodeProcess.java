// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.handover.NodeChannel;
import dev.sluice.testkit.Poll;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Daemon in a process of its own, as {@code bin/sluice-node} starts it. */
final class NodeProcess implements AutoCloseable {
  private static final long TIMEOUT_S = 60;

  private final Process process;

  private NodeProcess(Process process) {
    this.process = process;
  }

  /**
   * Starts it, and waits until it listens.
   *
   * @param directory for its configuration and its log; a folder {@code classes} there replaces
   *     some of its classes
   */
  static NodeProcess start(Path directory, Map<String, String> settings) throws Exception {
    return start(NodeMain.class, directory, settings);
  }

  /**
   * @param main does the work of {@link NodeMain}, and more
   */
  static NodeProcess start(Class<?> main, Path directory, Map<String, String> settings)
      throws Exception {
    return start(main, directory, settings, List.of(), System.getProperty("java.class.path"));
  }

  /**
   * @param launcher command that starts it
   */
  static NodeProcess start(
      Class<?> main,
      Path directory,
      Map<String, String> settings,
      List<String> launcher,
      String classPath)
      throws Exception {
    Path conf = directory.resolve("node.conf");
    List<String> lines = new ArrayList<>();
    settings.forEach((key, value) -> lines.add(key + "=" + value));
    Files.write(conf, lines);
    Path log = directory.resolve("node.log");
    List<String> command = new ArrayList<>(launcher);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            directory.resolve("classes") + File.pathSeparator + classPath,
            main.getName(),
            "--conf",
            conf.toString()));
    NodeProcess node =
        new NodeProcess(
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start());
    node.awaitSocket(Path.of(settings.get(NodeSettings.SOCKET.key())), log);
    return node;
  }

  private void awaitSocket(Path socket, Path log) throws Exception {
    boolean isOver =
        Poll.until(
            TimeUnit.SECONDS.toMillis(TIMEOUT_S), () -> listens(socket) || !process.isAlive());
    assertThat(isOver && process.isAlive())
        .as("the daemon listens; its log: %s", Files.readString(log))
        .isTrue();
  }

  private static boolean listens(Path socket) {
    try (NodeChannel _ = NodeChannel.connect(socket)) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Writes a line to its standard input. */
  void say(String line) throws IOException {
    process.getOutputStream().write(line.getBytes(StandardCharsets.US_ASCII));
    process.getOutputStream().flush();
  }

  /** Sends a signal, for example STOP or CONT. */
  void signal(String name) throws Exception {
    signal(process, name);
  }

  static void signal(Process process, String name) throws Exception {
    Process sent = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(sent.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
    assertThat(sent.exitValue()).isZero();
  }

  /** Sends SIGKILL, and waits for the end. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
  }

  /**
   * Sends SIGTERM, and waits for the end.
   *
   * @return its exit code
   */
  int terminate() throws InterruptedException {
    process.destroy();
    return exitCode();
  }

  /** Waits for its end, and returns its exit code. */
  int exitCode() throws InterruptedException {
    assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  /** Waits for the end, so that the next daemon's socket is not taken for this one's. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().orTimeout(TIMEOUT_S, TimeUnit.SECONDS).join();
  }
}
