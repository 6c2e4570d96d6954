// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A run of a bin/verbs command in a thread of the test, with its output. */
final class ToolRun {
  private static final long DEADLINE_SECONDS = 90;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CompletableFuture<Integer> status = new CompletableFuture<>();

  private ToolRun() {}

  static ToolRun start(String... arguments) {
    ToolRun run = new ToolRun();
    Thread.ofPlatform().daemon().start(() -> run.execute(arguments));
    return run;
  }

  /** Runs a command until it ends. */
  static ToolRun finished(String... arguments) throws Exception {
    ToolRun run = start(arguments);
    run.status();
    return run;
  }

  private void execute(String... arguments) {
    try {
      status.complete(
          VerbsCommand.commandLine(new PrintWriter(out, true), new PrintWriter(err, true))
              .execute(arguments));
    } catch (RuntimeException | Error e) {
      status.completeExceptionally(e);
    }
  }

  int status() throws Exception {
    return status.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  boolean isDone() {
    return status.isDone();
  }

  /** Waits until a text was printed. */
  void awaitOutput(String text) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!output().contains(text)) {
      assertThat(System.nanoTime()).as("waiting for '%s'", text).isLessThan(deadline);
      Thread.sleep(10);
    }
  }

  void assertSuccess() throws Exception {
    assertThat(status()).as(output() + errors()).isZero();
  }

  String output() {
    return out.toString();
  }

  String errors() {
    return err.toString();
  }
}
