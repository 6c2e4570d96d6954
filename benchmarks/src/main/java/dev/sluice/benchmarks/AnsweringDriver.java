package dev.sluice.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A driver process that prints a line when it is ready, one for each line that it reads, and one at
 * the end of them. Used by one thread, which closes it.
 */
public final class AnsweringDriver implements AutoCloseable {
  private static final long ANSWER_MINUTES = 20;
  private static final long END_SECONDS = 60;
  private static final long GRACE_SECONDS = 10;

  private final Process process;
  private final Function<String, IOException> failure;
  private final Writer questions;

  /** Empty at the end of the stream. */
  private final BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();

  /**
   * @param failure makes an exception of what went wrong
   */
  AnsweringDriver(Process process, Function<String, IOException> failure) {
    this.process = process;
    this.failure = failure;
    this.questions = process.outputWriter(StandardCharsets.UTF_8);
    Thread.startVirtualThread(this::listen);
  }

  private void listen() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      lines.lines().map(Optional::of).forEach(answers::add);
    } catch (IOException | UncheckedIOException e) {
      if (process.isAlive()) {
        System.err.println("answers of the driver are lost: " + e.getMessage());
      }
    } finally {
      answers.add(Optional.empty());
    }
  }

  /**
   * What it says to nothing: that it is ready.
   *
   * @throws IOException when the process ended or its deadline passed, also from other methods
   */
  public String await() throws IOException, InterruptedException {
    Optional<String> answer = answers.poll(ANSWER_MINUTES, TimeUnit.MINUTES);
    if (answer == null) {
      throw failure.apply("did not answer within " + ANSWER_MINUTES + " minutes");
    }
    return answer.orElseThrow(() -> failure.apply("ended early"));
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

  /** Its last line. Waits for the process to end. */
  public String end() throws IOException, InterruptedException {
    questions.close();
    String last = await();
    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
      throw failure.apply("did not end within " + END_SECONDS + " s");
    }
    if (process.exitValue() != 0) {
      throw failure.apply("ended with status " + process.exitValue());
    }
    return last;
  }

  /** Ends the process and its executors, if they have not ended; also those that are stopped. */
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
