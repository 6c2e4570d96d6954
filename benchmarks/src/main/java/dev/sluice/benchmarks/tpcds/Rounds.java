package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.Statistics;
import java.util.Arrays;
import java.util.List;
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

  /** What Sluice took beside that shuffle, in the rounds that both have completed. */
  Comparison comparison(String name, List<String> together, Shuffle partner, Double goal) {
    return comparison(name, together, Shuffle.SLUICE, partner, goal);
  }

  /** What stock took beside stock. */
  Comparison noise(List<String> together) {
    return comparison("noise", together, Shuffle.CONTROL, Shuffle.STOCK, null);
  }

  private Comparison comparison(
      String name, List<String> together, Shuffle shuffle, Shuffle partner, Double goal) {
    return new Comparison(
        name,
        "s",
        Better.LESS,
        completed(shuffle, partner).mapToDouble(process -> seconds(process, together)).toArray(),
        partner.label(),
        completed(shuffle, partner)
            .mapToDouble(process -> seconds(sameRound(process, partner), together))
            .toArray(),
        goal);
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

  private static double seconds(ProcessResult process, List<String> together) {
    return together.stream()
        .mapToDouble(query -> afterWarmUp(process.query(query).orElseThrow().seconds()))
        .sum();
  }

  private static double afterWarmUp(double[] seconds) {
    return Statistics.median(Arrays.copyOfRange(seconds, 1, seconds.length));
  }
}
