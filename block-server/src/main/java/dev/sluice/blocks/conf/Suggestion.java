// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the key that a user meant by a misspelt one, for a {@link SettingTable}. Any thread. */
final class Suggestion {
  private Suggestion() {}

  /**
   * Asks for the nearest key.
   *
   * @param prefix prefix of all keys, which is not compared
   * @return a question in brackets after a space; empty if no key is near
   */
  static String of(String misspelt, String prefix, Collection<String> keys) {
    return nearest(misspelt, prefix, keys).map(key -> " (did you mean " + key + "?)").orElse("");
  }

  /**
   * Returns the nearest key; empty if none is near.
   *
   * @param prefix prefix of all keys, which is not compared
   */
  static Optional<String> nearest(String misspelt, String prefix, Collection<String> keys) {
    String name = folded(misspelt, prefix);
    // One mistake, and one more for each four characters.
    int most = 1 + name.length() / 4;
    return keys.stream()
        .filter(key -> distance(name, folded(key, prefix)) <= most)
        .min(Comparator.comparingInt(key -> distance(name, folded(key, prefix))));
  }

  private static String folded(String key, String prefix) {
    return key.substring(key.startsWith(prefix) ? prefix.length() : 0).toLowerCase(Locale.ROOT);
  }

  /** Returns how many characters to insert, delete, replace or swap with their neighbour. */
  static int distance(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        cost[i][j] = i == 0 || j == 0 ? i + j : step(a, b, cost, i, j);
      }
    }
    return cost[a.length()][b.length()];
  }

  private static int step(String a, String b, int[][] cost, int i, int j) {
    int replaced = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
    int least = Math.min(replaced, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
    boolean isSwapped =
        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
    return isSwapped ? Math.min(least, cost[i - 2][j - 2] + 1) : least;
  }
}
