package dev.sluice.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.commons.lang3.function.FailableFunction;

/**
 * A process, such as a driver, that prints lines when it is ready, one for each line that it reads,
 * and one at the end of them. Used by one thread, which closes it.
 */
public final class AnsweringProcess implements AutoCloseable {
  private static final long ANSWER_MINUTES = 60;
  private static final long END_SECONDS = 60;
  private static final long GRACE_SECONDS = 10;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final Function<String, IOException> failure;
  private final Writer questions;
  private final BufferedReader answers;

  /**
   * @param failure makes an exception of what went wrong
   */
  AnsweringProcess(Process process, Function<String, IOException> failure) {
    this.process = process;
    this.failure = failure;
    this.questions = process.outputWriter(StandardCharsets.UTF_8);
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * The other end, in the process itself: returns when there are no more questions.
   *
   * @param out standard output as it was
   * @param answers what it answers to a line, which travels as JSON
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
   * A Java process of ours that ends when its standard input does.
   *
   * @param prefix of the command, such as taskset
   */
  public static AnsweringProcess start(List<String> prefix, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-XX:+UseG1GC"); // as executors have it, also of one core
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
   * What it says to nothing: that it is ready.
   *
   * @throws IOException when the process ended or its deadline passed, also from other methods
   */
  public String await() throws IOException, InterruptedException {
    FutureTask<String> line = new FutureTask<>(answers::readLine);
    Thread.startVirtualThread(line);
    try {
      String answer = line.get(ANSWER_MINUTES, TimeUnit.MINUTES);
      if (answer == null) {
        throw failure.apply("ended early");
      }
      return answer;
    } catch (ExecutionException e) {
      throw failure.apply("cannot be heard: " + e.getCause().getMessage());
    } catch (TimeoutException e) {
      throw failure.apply("did not answer within " + ANSWER_MINUTES + " minutes");
    }
  }

  /** Its answer to a line. */
  public String ask(String line) throws IOException, InterruptedException {
    try {
      questions.write(line + "\n");
      questions.flush();
    } catch (IOException e) {
      throw failure.apply("takes no more questions: " + e.getMessage());
    }
    return await();
  }

  /** What it answers as JSON. */
  public <T> T ask(String line, Class<T> type) throws IOException, InterruptedException {
    return JSON.readValue(ask(line), type);
  }

  /** Waits for its last line, and for its end. */
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

  /** Ends it and its executors, if they have not ended; also those that are stopped. */
  @Override
  public void close() {
    List<ProcessHandle> executors = process.descendants().toList();
    process.destroy();
    try {
      if (!process.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
    executors.forEach(ProcessHandle::destroyForcibly);
  }
}
