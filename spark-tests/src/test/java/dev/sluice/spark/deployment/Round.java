// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.deployment;

import dev.sluice.spark.account.Totals;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Output of {@link ShuffleApplication} about one shuffle.
 *
 * @param totals since the application's start
 */
record Round(boolean right, Totals totals) {
  static List<Round> of(String output) {
    return output
        .lines()
        .filter(l -> l.startsWith(ShuffleApplication.ROUND))
        .map(Round::parse)
        .toList();
  }

  private static Round parse(String line) {
    TreeMap<String, Long> values = new TreeMap<>();
    Arrays.stream(line.split(" "))
        .skip(1)
        .map(entry -> entry.split("="))
        .forEach(entry -> values.put(entry[0], Long.valueOf(entry[1])));
    boolean right = values.remove("right") == 1;
    return new Round(right, new Totals(values));
  }
}
