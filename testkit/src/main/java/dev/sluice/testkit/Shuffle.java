// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.List;
import java.util.Locale;

/**
 * The shuffle that a job uses. Commands of benchmarks and of the fault harness choose it, and
 * {@link DriverProcess} configures it. Its label is in directories, in rows and in the JSON of
 * results, so the names stay.
 */
public enum Shuffle {
  SLUICE,
  STOCK;

  /** The two shuffles that are compared, in the order of the first round. */
  public static final List<Shuffle> PAIR = List.of(SLUICE, STOCK);

  /** Returns Sluice and stock in alternating order, so that neither always runs second. */
  public static List<Shuffle> inTurn(int round) {
    return round % 2 == 0 ? PAIR : PAIR.reversed();
  }

  /** Returns the name as tables show it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
