package dev.sluice.benchmarks;

import java.io.OutputStream;
import java.io.PrintStream;

/** Keeps standard output for results: Hadoop's formats print there what belongs into a log. */
public final class StandardOutput {
  private StandardOutput() {}

  /** Takes standard output away from everybody else. Called once, first thing in a main method. */
  public static PrintStream claim() {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    return out;
  }
}
