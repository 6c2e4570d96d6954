package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects rounds of many things until they are comparisons. One thread. */
public final class Pairs {
  /** What is compared, and the values of the rounds so far. */
  private record Pair(
      String name, String unit, Better better, String partner, List<double[]> rounds) {
    Comparison comparison() {
      return new Comparison(name, unit, better, column(0), partner, column(1));
    }

    private double[] column(int side) {
      return rounds.stream().mapToDouble(round -> round[side]).toArray();
    }
  }

  private final Map<String, Pair> pairs = new LinkedHashMap<>();

  /** Little of it is wanted. */
  public void less(String name, String unit, double sluice, String partner, double partnerValue) {
    add(name, unit, Better.LESS, sluice, partner, partnerValue);
  }

  /** Much of it is wanted. */
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
