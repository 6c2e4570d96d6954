package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.Statistics;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
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
    return completed(partner).anyMatch(process -> process.query(query).isPresent());
  }

  /** Queries together, in the rounds that both shuffles have completed. */
  Comparison comparison(String name, List<String> together, Shuffle partner, Double goal) {
    return new Comparison(
        name,
        "s",
        Better.LESS,
        completed(partner).mapToDouble(process -> seconds(process, together)).toArray(),
        partner.label(),
        completed(partner)
            .mapToDouble(process -> seconds(sameRound(process, partner), together))
            .toArray(),
        goal);
  }

  /** What stock took by itself, in the rounds in which it ran beside itself; empty without one. */
  OptionalDouble noise(List<String> together) {
    double[] ratios =
        processes.stream()
            .filter(process -> process.shuffle() == Shuffle.CONTROL)
            .mapToDouble(
                control ->
                    seconds(control, together)
                        / seconds(sameRound(control, Shuffle.STOCK), together))
            .toArray();
    return ratios.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(Statistics.median(ratios));
  }

  /** Sluice's processes that have a partner. */
  private Stream<ProcessResult> completed(Shuffle partner) {
    return processes.stream()
        .filter(
            process -> process.shuffle() == Shuffle.SLUICE && sameRound(process, partner) != null);
  }

  private ProcessResult sameRound(ProcessResult sluice, Shuffle partner) {
    return processes.stream()
        .filter(process -> process.shuffle() == partner && process.round() == sluice.round())
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
