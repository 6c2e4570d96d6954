package dev.sluice.benchmarks;

import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.function.Supplier;
import picocli.CommandLine;

/** Keeps standard output for results: Hadoop's formats print there what belongs into a log. */
public final class StandardOutput {
  private StandardOutput() {}

  /** Takes standard output away from everybody else. Called once, first thing in a main method. */
  public static PrintStream claim() {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    return out;
  }

  /**
   * Runs a command, and ends this process with its status. All that a main method does.
   *
   * @param command made here, since picocli forgets the writer when System.out changes after it
   */
  public static void run(Supplier<CommandLine> command, String... arguments) {
    PrintWriter out = new PrintWriter(claim(), true);
    int status = command.get().setOut(out).execute(arguments);
    out.flush();
    System.exit(status);
  }
}
