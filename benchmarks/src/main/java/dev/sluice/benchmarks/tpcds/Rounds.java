package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.Spread;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Driver processes that ran the same queries, as often: one of each shuffle a round.
 *
 * @param processes those that have ended
 */
record Rounds(List<ProcessResult> processes) {
  static final Rounds NONE = new Rounds(List.of());

  /** Whether Sluice and that shuffle have completed a round in which the query was run. */
  boolean have(Shuffle partner, String query) {
    return completed(Shuffle.SLUICE, partner).anyMatch(process -> process.query(query).isPresent());
  }

  /** The time that Sluice took beside stock, in the rounds that both have completed. */
  Comparison comparison(String name, List<String> together) {
    return comparison(name, together, Shuffle.SLUICE, QueryResult::seconds);
  }

  /** The same of the executors' CPU time. */
  Comparison cpu(String name, List<String> together) {
    return comparison(name, together, Shuffle.SLUICE, QueryResult::cpuSeconds);
  }

  /** What stock took beside stock, of time or of CPU time. */
  Comparison noise(List<String> together, Function<QueryResult, double[]> figure) {
    return comparison("noise", together, Shuffle.CONTROL, figure);
  }

  private Comparison comparison(
      String name,
      List<String> together,
      Shuffle shuffle,
      Function<QueryResult, double[]> figure) {
    return Comparison.less(
        name,
        "s",
        completed(shuffle, Shuffle.STOCK)
            .mapToDouble(process -> sum(process, together, figure))
            .toArray(),
        Shuffle.STOCK.label(),
        completed(shuffle, Shuffle.STOCK)
            .mapToDouble(process -> sum(sameRound(process, Shuffle.STOCK), together, figure))
            .toArray());
  }

  /** The shuffle's processes that have a partner. */
  private Stream<ProcessResult> completed(Shuffle shuffle, Shuffle partner) {
    return processes.stream()
        .filter(process -> process.shuffle() == shuffle && sameRound(process, partner) != null);
  }

  private ProcessResult sameRound(ProcessResult other, Shuffle partner) {
    return processes.stream()
        .filter(process -> process.shuffle() == partner && process.round() == other.round())
        .findFirst()
        .orElse(null);
  }

  private static double sum(
      ProcessResult process, List<String> together, Function<QueryResult, double[]> figure) {
    return together.stream()
        .mapToDouble(query -> afterWarmUp(figure.apply(process.query(query).orElseThrow())))
        .sum();
  }

  private static double afterWarmUp(double[] values) {
    return Spread.median(Arrays.copyOfRange(values, 1, values.length));
  }
}
