// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects the rounds of many quantities and makes rows of them. A command creates it, and its
 * thread adds one pair of values per round; warm-up rounds add to one that is dropped. Unit and
 * partner of a name are those of its first round.
 */
public final class Pairs {
  /** A quantity and its values so far, one pair per round. */
  private record Pair(
      String name, String unit, Better better, String partner, List<double[]> rounds) {
    Comparison comparison() {
      return new Comparison(name, unit, better, column(0), partner, column(1), null);
    }

    private double[] column(int side) {
      return rounds.stream().mapToDouble(round -> round[side]).toArray();
    }
  }

  private final Map<String, Pair> pairs = new LinkedHashMap<>();

  /** Adds a round of a quantity that should be low. */
  public void less(String name, String unit, double sluice, String partner, double partnerValue) {
    add(name, unit, Better.LESS, sluice, partner, partnerValue);
  }

  /** Adds a round of a quantity that should be high. */
  public void more(String name, String unit, double sluice, String partner, double partnerValue) {
    add(name, unit, Better.MORE, sluice, partner, partnerValue);
  }

  private void add(
      String name, String unit, Better better, double sluice, String partner, double value) {
    pairs
        .computeIfAbsent(name, _ -> new Pair(name, unit, better, partner, new ArrayList<>()))
        .rounds()
        .add(new double[] {sluice, value});
  }

  public Collection<Comparison> comparisons() {
    return pairs.values().stream().map(Pair::comparison).toList();
  }
}
