// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Shows on standard error how far a long command is. On a terminal, a bar below the lines has the
 * present step, and the time at which the command ends if all steps take as long as the steps so
 * far. A log gets the lines only. A command has one and uses it on its thread; a shutdown hook
 * removes the bar of a command that is interrupted.
 *
 * <p>The bar has the time of the end, not the time left: it changes with the steps alone, and needs
 * no thread.
 */
public final class Progress {
  /** System property: columns of the terminal, which bin/lib.sh sets if standard error is one. */
  private static final String COLUMNS = "sluice.terminal.columns";

  private static final int BAR = 20;
  private static final String ERASE = "\r\033[K";
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm", Locale.ROOT);
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("EEE HH:mm", Locale.ROOT);

  private final PrintStream out;
  private final int columns;
  private final Clock clock;
  private int steps;
  private int begun;
  private Instant start = Instant.EPOCH;

  /** Text of the bar; empty if there is none. */
  private String bar = "";

  private boolean hooked;

  /**
   * @param columns columns of the terminal; 0 for a log
   */
  Progress(PrintStream out, int columns, Clock clock) {
    this.out = out;
    this.columns = columns;
    this.clock = clock;
  }

  public static Progress onStandardError() {
    return new Progress(
        System.err, Integer.getInteger(COLUMNS, 0), Clock.system(ZoneId.systemDefault()));
  }

  /** Adds steps to those that are expected. */
  public synchronized void expect(int more) {
    steps += more;
  }

  /** Begins a step, which ends the one before. In a log its name is a line. */
  public synchronized void begin(String step) {
    if (columns == 0) {
      out.println(step);
    }
    beginQuietly(step);
  }

  /** Begins a step whose result will be a {@link #line} with its name. */
  public synchronized void beginQuietly(String step) {
    if (begun == 0) {
      start = clock.instant();
    }
    begun++;
    steps = Math.max(steps, begun);
    if (columns > 0) {
      hook();
      int done = begun - 1;
      String text =
          "[%s] %d/%d %s%s"
              .formatted(
                  "#".repeat(BAR * done / steps) + "-".repeat(BAR - BAR * done / steps),
                  done,
                  steps,
                  step,
                  end(done));
      // A terminal would wrap a line that fills it.
      bar = text.substring(0, Math.min(text.length(), columns - 1));
      out.print(ERASE + bar);
    }
  }

  private String end(int done) {
    if (done == 0) {
      return "";
    }
    Duration sofar = Duration.between(start, clock.instant());
    ZonedDateTime end =
        start.plus(sofar.multipliedBy(steps).dividedBy(done)).atZone(clock.getZone());
    boolean today = end.toLocalDate().equals(ZonedDateTime.now(clock).toLocalDate());
    return ", ends about " + (today ? TIME : DAY).format(end);
  }

  /** Prints a line, on a terminal above the bar. */
  public synchronized void line(String text) {
    out.println(bar.isEmpty() ? text : ERASE + text);
    out.print(bar);
  }

  /** Removes the bar, as before results are printed. The next step shows it again. */
  public synchronized void clear() {
    if (!bar.isEmpty()) {
      bar = "";
      out.print(ERASE);
    }
  }

  private void hook() {
    if (!hooked) {
      hooked = true;
      Runtime.getRuntime().addShutdownHook(new Thread(this::clear, "progress-eraser"));
    }
  }
}
