package dev.sluice.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A Java process of ours that answers lines with lines, and ends when its standard input does. Used
 * by one thread, which closes it.
 */
public final class ChildProcess implements AutoCloseable {
  private static final long END_TIMEOUT_S = 10;

  private final Process process;
  private final BufferedReader out;
  private final PrintStream in;

  private ChildProcess(Process process) {
    this.process = process;
    out = process.inputReader();
    in = new PrintStream(process.getOutputStream(), true);
  }

  /**
   * @param prefix of the command, such as taskset
   */
  public static ChildProcess start(List<String> prefix, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-XX:+UseG1GC"); // as executors have it, also of one core
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return new ChildProcess(new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
  }

  /** Waits for it. */
  public String readLine() throws IOException {
    String line = out.readLine();
    if (line == null) {
      throw new IOException("process " + process.pid() + " has ended");
    }
    return line;
  }

  public long pid() {
    return process.pid();
  }

  /** What it answers to an empty line. */
  public String ask() throws IOException {
    in.println();
    return readLine();
  }

  @Override
  public void close() {
    in.close();
    try {
      if (!process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
