package dev.sluice.benchmarks;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Something that Sluice and a partner did in turn, round by round, in one run.
 *
 * @param name what, in words with hyphens, such as {@code storm-rdd-kryo-400x400-1KB-task}
 * @param unit of the values
 * @param better whether little or much of it is wanted
 * @param sluice values of the rounds
 * @param partner whose {@code partnerValues} are, such as stock, socket or ib_read_bw
 * @param partnerValues of the same rounds
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
  "reached"
})
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Comparison(
    String name,
    String unit,
    Better better,
    double[] sluice,
    String partner,
    @JsonProperty("partner_values") double[] partnerValues) {

  /** Which way a ratio has to be. */
  public enum Better {
    LESS,
    MORE
  }

  public Comparison {
    if (sluice.length != partnerValues.length || sluice.length == 0) {
      throw new IllegalArgumentException(
          name + ": " + sluice.length + " rounds, and " + partnerValues.length + " of " + partner);
    }
  }

  /** Little of it is wanted. */
  public static Comparison less(
      String name, String unit, double[] sluice, String partner, double[] partnerValues) {
    return new Comparison(name, unit, Better.LESS, sluice, partner, partnerValues);
  }

  /** Seconds with Sluice beside those with the stock shuffle. */
  public static Comparison ofSeconds(String name, Function<Shuffle, double[]> seconds) {
    double[] sluice = seconds.apply(Shuffle.SLUICE);
    return less(name, "s", sluice, Shuffle.STOCK.label(), seconds.apply(Shuffle.STOCK));
  }

  /** Sluice's values by the partner's, round by round. */
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

  /** For the ratio; null without one. */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public Double goal() {
    return Goal.of(name).map(Goal::ratio).orElse(null);
  }

  /** Null without a goal. */
  @JsonProperty(access = JsonProperty.Access.READ_ONLY)
  public Boolean reached() {
    return Goal.of(name).map(goal -> goal.isReached(ratio())).orElse(null);
  }
}
