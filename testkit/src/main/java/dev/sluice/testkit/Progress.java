// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Shows on standard error how far a long command is. On a terminal, a bar below the lines has the
 * present step, and the time at which the command ends if all steps take as long as the steps so
 * far, or as their known durations tell. A log gets the lines only. A command has one and uses it
 * on its thread, and on threads that print; a shutdown hook removes the bar of a command that is
 * interrupted.
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

  /** Known durations of the steps, in their order; empty if none is known. */
  private final List<Duration> known = new ArrayList<>();

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

  /** Expects these steps, and no others; their durations are about known. */
  public synchronized void expect(List<Duration> durations) {
    known.addAll(durations);
    steps = known.size();
  }

  /** Returns true if there is a bar, and false if there is a log. */
  public boolean hasBar() {
    return columns > 0;
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
      int filled = Math.toIntExact(BAR * work(done) / work(steps));
      String text =
          "[%s] %d/%d %s%s"
              .formatted(
                  "#".repeat(filled) + "-".repeat(BAR - filled), done, steps, step, end(done));
      // A terminal would wrap a line that fills it.
      bar = text.substring(0, Math.min(text.length(), columns - 1));
      out.print(ERASE + bar);
    }
  }

  /** Returns the work of the first steps: milliseconds, or steps if no duration is known. */
  private long work(int first) {
    return known.isEmpty()
        ? first
        : known.stream().limit(first).mapToLong(Duration::toMillis).sum();
  }

  private String end(int done) {
    if (done == 0 && known.isEmpty()) {
      return "";
    }
    long left = work(steps) - work(done);
    ZonedDateTime now = ZonedDateTime.now(clock);
    Duration further =
        done == 0
            ? Duration.ofMillis(left)
            : Duration.between(start, now).multipliedBy(left).dividedBy(work(done));
    ZonedDateTime end = now.plus(further);
    boolean today = end.toLocalDate().equals(now.toLocalDate());
    return ", ends about " + (today ? TIME : DAY).format(end);
  }

  /** Prints a line, on a terminal above the bar. */
  public synchronized void line(String text) {
    above(() -> out.println(text));
  }

  /** Lets another printer print whole lines, on a terminal above the bar. */
  public synchronized void above(Runnable print) {
    if (!bar.isEmpty()) {
      out.print(ERASE);
    }
    print.run();
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
