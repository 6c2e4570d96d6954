// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.function.Supplier;
import picocli.CommandLine;

/**
 * Keeps standard output for results, since Hadoop's formats print log lines there. Main methods of
 * commands and drivers call it first, once.
 */
public final class StandardOutput {
  private StandardOutput() {}

  /** Returns standard output and discards all other output. Called first in a main method. */
  public static PrintStream claim() {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    return out;
  }

  /**
   * Runs a command and ends this process with its status. A main method does nothing else.
   *
   * @param command makes the command; called after the redirection, since picocli drops the writer
   *     if System.out changes later
   */
  public static void run(Supplier<CommandLine> command, String... arguments) {
    PrintWriter out = new PrintWriter(claim(), true);
    int status = Usage.of(command.get()).setOut(out).execute(arguments);
    out.flush();
    System.exit(status);
  }
}
