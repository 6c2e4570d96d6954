package dev.sluice.benchmarks.terasort;

import java.io.PrintStream;

/**
 * Shows how many tasks of a sort are done: a bar that is redrawn on a terminal, else a line every
 * quarter. Used by one thread.
 */
final class Progress {
  /** Set by bin/lib.sh where standard error is a terminal. */
  static final String TERMINAL_VARIABLE = "SLUICE_TERMINAL";

  private static final int BAR_WIDTH = 40;

  private final PrintStream out;
  private final boolean terminal;
  private final String label;
  private int total;
  private int done;

  Progress(PrintStream out, boolean terminal, String label) {
    this.out = out;
    this.terminal = terminal;
    this.label = label;
  }

  static Progress on(PrintStream out, String label) {
    return new Progress(out, System.getenv(TERMINAL_VARIABLE) != null, label);
  }

  void start(int tasks) {
    total = tasks;
    done = 0;
    show();
  }

  void taskDone() {
    int quarter = quarter();
    done++;
    if (terminal || quarter() != quarter) {
      show();
    }
  }

  void end() {
    if (terminal) {
      out.print("\r\033[K");
      out.flush();
    }
  }

  private int quarter() {
    return total == 0 ? 0 : 4 * done / total;
  }

  private void show() {
    if (!terminal) {
      out.printf("%s: %d/%d tasks%n", label, done, total);
      return;
    }
    int filled = total == 0 ? 0 : BAR_WIDTH * done / total;
    String bar = "#".repeat(filled) + ".".repeat(BAR_WIDTH - filled);
    out.printf("\r\033[K%s [%s] %d/%d tasks", label, bar, done, total);
    out.flush();
  }
}
