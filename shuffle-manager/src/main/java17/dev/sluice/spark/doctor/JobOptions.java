// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalInt;

/**
 * Options of the doctor's Spark job. {@link Doctor} parses them on its main thread; they do not
 * change after that. A new option belongs in {@link #parse} and in {@link #HELP}.
 */
final class JobOptions {
  private static final int DEFAULT_WAIT_SECONDS = 60;

  /** Limit of any number of an option. */
  private static final int MAX = 1_000_000;

  static final String HELP =
      String.format(
          """
          spark-submit --class dev.sluice.spark.doctor.Doctor <this jar> [option...]
            --mesh          READ from every host to every other, by one executor of each
            --executors N   number of executors to wait for (as configured)
            --wait N        limit of the wait for executors, in seconds (%d)
            --fix           print the lines of files that mend the findings; change no file
            --json          print one object, with an array of findings
          Exit status: 0 if all is ok, 1 with a warning, 2 with a failure or wrong options.
          """,
          DEFAULT_WAIT_SECONDS);

  private OptionalInt executors = OptionalInt.empty();
  private Duration wait = Duration.ofSeconds(DEFAULT_WAIT_SECONDS);
  private boolean mesh;
  private boolean fix;
  private boolean json;
  private boolean help;

  private JobOptions() {}

  /**
   * @throws IllegalArgumentException for an unknown option, one without its value, and two that
   *     exclude each other
   */
  static JobOptions parse(List<String> arguments) {
    JobOptions options = new JobOptions();
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      String option = rest.next();
      switch (option) {
        case "--executors" -> options.executors = OptionalInt.of(number(option, rest));
        case "--wait" -> options.wait = Duration.ofSeconds(number(option, rest));
        case "--mesh" -> options.mesh = true;
        case "--fix" -> options.fix = true;
        case "--json" -> options.json = true;
        case "--help", "-h" -> options.help = true;
        default -> throw new IllegalArgumentException("there is no option " + option);
      }
    }
    if (options.fix && options.json) {
      throw new IllegalArgumentException(
          "--fix cannot be combined with --json, where each finding has its lines");
    }
    return options;
  }

  private static int number(String option, Iterator<String> rest) {
    String value = rest.hasNext() ? rest.next() : "nothing";
    try {
      int number = Integer.parseInt(value);
      if (number >= 1 && number <= MAX) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(
        String.format("%s is %s, not a number from 1 to %d", option, value, MAX));
  }

  /** Returns the number of executors to wait for; empty if the configuration decides. */
  OptionalInt executors() {
    return executors;
  }

  Duration waitLimit() {
    return wait;
  }

  boolean mesh() {
    return mesh;
  }

  /** Returns true if lines of files are printed in place of the findings. */
  boolean fix() {
    return fix;
  }

  boolean json() {
    return json;
  }

  boolean help() {
    return help;
  }
}
