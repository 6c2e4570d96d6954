// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.commons.lang3.function.FailableFunction;

/**
 * A child process that answers lines, such as a Spark driver. It prints one line when it is ready,
 * one for each line that it reads, and one when its input ends. {@link #start} or {@link
 * DriverProcess} makes it, and one thread of the command uses it. It calls {@link #await} once
 * after {@code start}, then {@link #ask}, {@link #end} to end the child in order, and always {@link
 * #close}, which kills it. The child's main thread calls {@link #answer}.
 */
public final class AnsweringProcess implements AutoCloseable {
  /** Deadline of an answer, which may be the result of a whole job: only a hang reaches it. */
  private static final long ANSWER_MINUTES = 60;

  private static final long END_SECONDS = 60;
  private static final long GRACE_SECONDS = 10;

  /** Time for Ctrl-C to reach this process after it ended the child. */
  private static final long SIGNAL_MS = 1_000;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final Function<String, IOException> failure;
  private final Writer questions;
  private final BufferedReader answers;

  /** Executors that ran at an answer: once the process has ended, they are no longer its own. */
  private final Set<ProcessHandle> executors = new HashSet<>();

  /**
   * @param failure makes an exception of a reason
   */
  public AnsweringProcess(Process process, Function<String, IOException> failure) {
    this.process = process;
    this.failure = failure;
    this.questions = process.outputWriter(StandardCharsets.UTF_8);
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Returns standard output for answers or results, and discards all other output: Hadoop's formats
   * print log lines there. Main methods of drivers and commands call it first, once.
   */
  public static PrintStream claimOutput() {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    return out;
  }

  /**
   * Runs the child's side: answers each line of standard input; returns at the end of the input.
   *
   * @param out as {@link #claimOutput} returned it
   * @param answers computes the answer to a line, which is sent as JSON
   */
  public static void answer(PrintStream out, FailableFunction<String, Object, Exception> answers)
      throws Exception {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    out.println("ready");
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      out.println(JSON.writeValueAsString(answers.apply(line)));
    }
    out.println("done");
  }

  /**
   * Starts a JVM with this process's class path. It ends when its standard input ends.
   *
   * @param prefix start of the command, such as taskset with its arguments
   */
  public static AnsweringProcess start(List<String> prefix, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-XX:+UseG1GC"); // as in executors, also on one core
    command.add("-XX:+IgnoreUnrecognizedVMOptions"); // JDK 21 has not all of those below.
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return new AnsweringProcess(
        new ProcessBuilder(command).redirectError(Redirect.INHERIT).start(),
        reason -> new IOException(main.getSimpleName() + " " + reason));
  }

  public long pid() {
    return process.pid();
  }

  /**
   * Waits for the next line without asking, such as the line that says that the child is ready.
   *
   * @throws IOException if the process ended or the deadline passed; other methods throw it, too
   */
  public String await() throws IOException, InterruptedException {
    FutureTask<String> line = new FutureTask<>(answers::readLine);
    Thread.startVirtualThread(line);
    try {
      String answer = line.get(ANSWER_MINUTES, TimeUnit.MINUTES);
      if (answer == null) {
        awaitOwnEnd();
        throw failure.apply("ended before it answered");
      }
      process.descendants().forEach(executors::add);
      return answer;
    } catch (ExecutionException e) {
      throw failure.apply(
          "has an output that cannot be read: " + requireNonNull(e.getCause()).getMessage());
    } catch (TimeoutException e) {
      throw failure.apply("did not answer within " + ANSWER_MINUTES + " minutes");
    }
  }

  /**
   * Waits for the end of this process if Ctrl-C has ended a child and this process. Then the child
   * has not failed, and the command must not start another one.
   */
  public static void awaitOwnEnd() throws InterruptedException {
    if (Poll.until(SIGNAL_MS, AnsweringProcess::isEnding)) {
      TimeUnit.SECONDS.sleep(END_SECONDS);
    }
  }

  private static boolean isEnding() {
    Thread hook = new Thread(() -> {}, "no-hook");
    try {
      Runtime.getRuntime().addShutdownHook(hook);
      Runtime.getRuntime().removeShutdownHook(hook);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** Sends a line and returns the answer. */
  public String ask(String line) throws IOException, InterruptedException {
    try {
      questions.write(line + "\n");
      questions.flush();
    } catch (IOException e) {
      awaitOwnEnd();
      throw failure.apply("has closed its input: " + e.getMessage());
    }
    return await();
  }

  /** Sends a line and returns the answer, parsed from JSON. */
  public <T> T ask(String line, Class<T> type) throws IOException, InterruptedException {
    return JSON.readValue(ask(line), type);
  }

  /** Closes the child's input, waits for its last line and for its end. */
  public void end() throws IOException, InterruptedException {
    questions.close();
    await();
    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
      throw failure.apply("did not end within " + END_SECONDS + " s");
    }
    if (process.exitValue() != 0) {
      throw failure.apply("ended with status " + process.exitValue());
    }
  }

  /** Kills the process and its executors if they still run, even if they are stopped (SIGSTOP). */
  @Override
  public void close() {
    process.descendants().forEach(executors::add);
    process.destroy();
    try {
      if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS); // It may write files until its end.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
    awaitExecutors();
    executors.forEach(ProcessHandle::destroyForcibly);
  }

  /** Executors end after their driver, and tidy up. One that is stopped does not end. */
  private void awaitExecutors() {
    try {
      CompletableFuture.allOf(
              executors.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
          .get(GRACE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException _) {
      // They are killed.
    }
  }
}
