// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.account;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Finds the log lines about blocks by path, as whole lines. */
public final class BlockLines {
  private static final String COUNTERS = "((?:[\\w.-]+=\\d+, )*[\\w.-]+=\\d+)\\R";
  private static final Pattern OF_EXECUTOR =
      Pattern.compile("Shuffle blocks of executor (\\S+): " + COUNTERS);
  private static final Pattern OF_APPLICATION =
      Pattern.compile("Shuffle blocks of the application: " + COUNTERS);

  private BlockLines() {}

  /**
   * Sums the last report of each executor.
   *
   * @param log of one application's executors
   */
  public static Totals ofExecutors(String log) {
    Map<String, Totals> last = new TreeMap<>();
    OF_EXECUTOR.matcher(log).results().forEach(m -> last.put(m.group(1), parse(m.group(2))));
    return last.values().stream().reduce(Totals.NONE, Totals::plus);
  }

  /**
   * The driver's report at the application's end.
   *
   * @throws IllegalStateException unless the log has exactly one
   */
  public static Totals ofApplication(String log) {
    Matcher matcher = OF_APPLICATION.matcher(log);
    if (matcher.results().count() != 1) {
      throw new IllegalStateException("not one line about the application's blocks in " + log);
    }
    return parse(matcher.reset().results().findFirst().orElseThrow().group(1));
  }

  private static Totals parse(String counters) {
    return new Totals(
        Arrays.stream(counters.split(", "))
            .map(counter -> counter.split("="))
            .collect(Collectors.toMap(parts -> parts[0], parts -> Long.valueOf(parts[1]))));
  }
}
