// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.Goal.Verdict;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A row of a benchmark's results: values of the same quantity by Sluice and by a partner, measured
 * in turn, round by round, in one run. {@link Pairs} and the reports of single benchmarks make it
 * on the command's thread when the rounds are over. {@link Benchmark} prints and writes it; {@link
 * ResultFile} reads it again for {@code bench all} and the report.
 *
 * <p>It does not change, and its arrays are not copied. It is stored as JSON: names of components
 * and of annotated methods are the format of result files.
 *
 * @param name name of the quantity, words with hyphens: {@code storm-rdd-kryo-400x400-1KB-task};
 *     ends with versions that are not those of the documented figures: {@code terasort-1g@java-21}
 * @param unit unit of the values
 * @param better direction in which the value improves
 * @param sluice Sluice's values by round
 * @param partner name of the partner, such as stock, socket or ib_read_bw
 * @param partnerValues the partner's values of the same rounds
 * @param run command, machine and versions that the row is from; null until {@link Benchmark} adds
 *     it, and in files that have none
 */
@JsonPropertyOrder({
  "name",
  "unit",
  "better",
  "sluice",
  "partner",
  "partner_values",
  "ratio",
  "goal",
  "reached",
  "rounds_to_decide",
  "run"
})
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Comparison(
    String name,
    String unit,
    Better better,
    double[] sluice,
    String partner,
    @JsonProperty("partner_values") double[] partnerValues,
    @Nullable BenchmarkRun run) {

  /** Direction in which a value or a ratio improves. */
  public enum Better {
    LESS,
    MORE
  }

  public Comparison {
    if (sluice.length != partnerValues.length || sluice.length == 0) {
      throw new IllegalArgumentException(
          "%s: %d rounds of Sluice and %d of %s; both need the same number, at least 1"
              .formatted(name, sluice.length, partnerValues.length, partner));
    }
  }

  /** Returns a row whose values should be low. */
  public static Comparison less(
      String name, String unit, double[] sluice, String partner, double[] partnerValues) {
    return new Comparison(name, unit, Better.LESS, sluice, partner, partnerValues, null);
  }

  /** Returns a row of seconds, Sluice against the stock shuffle. */
  public static Comparison ofSeconds(String name, Function<Shuffle, double[]> seconds) {
    double[] sluice = seconds.apply(Shuffle.SLUICE);
    return less(name, "s", sluice, Shuffle.STOCK.label(), seconds.apply(Shuffle.STOCK));
  }

  /** Returns Sluice's value divided by the partner's, round by round. */
  public double[] ratios() {
    double[] ratios = new double[sluice.length];
    Arrays.setAll(ratios, i -> sluice[i] / partnerValues[i]);
    return ratios;
  }

  /** The median of {@link #ratios}. */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public double ratio() {
    return Spread.median(ratios());
  }

  /** Returns the goal for the ratio; null if there is none. */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public @Nullable Double goal() {
    return Goal.of(name).map(Goal::ratio).orElse(null);
  }

  /** Returns the verdict about the goal; empty without a goal. */
  Optional<Verdict> verdict() {
    return Goal.of(name).map(goal -> Verdict.of(this, goal));
  }

  /** "yes", "no" or "undecided"; null without a goal. */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public @Nullable String reached() {
    return verdict().map(verdict -> verdict.answer().name().toLowerCase(Locale.ROOT)).orElse(null);
  }

  /** Returns how many rounds may decide; null if the verdict is decided or there is no goal. */
  @JsonProperty(value = "rounds_to_decide", access = JsonProperty.Access.READ_ONLY)
  public @Nullable Integer roundsToDecide() {
    return verdict().map(Verdict::rounds).filter(rounds -> rounds > 0).orElse(null);
  }

  /** Returns the same row of this process with its origin, and with its versions in the name. */
  public Comparison from(BenchmarkRun origin) {
    return new Comparison(
        name + BenchmarkRun.variant(), unit, better, sluice, partner, partnerValues, origin);
  }

  /**
   * Collects the rounds of many quantities and makes rows of them. A command creates it, and its
   * thread adds one pair of values per round; warm-up rounds add to one that is dropped. Unit and
   * partner of a name are those of its first round.
   */
  public static final class Pairs {
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
}
