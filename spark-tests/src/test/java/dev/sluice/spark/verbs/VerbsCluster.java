package dev.sluice.spark.verbs;

import dev.sluice.spark.scenarios.LocalCluster;
import java.util.stream.Stream;

/** A local cluster whose executors READ from one another, and not from themselves, by verbs. */
final class VerbsCluster {
  private VerbsCluster() {}

  /**
   * @param settings keys and values in turn
   */
  static LocalCluster start(String... settings) {
    Stream<String> verbs =
        Stream.of(
            "spark.shuffle.rdma.provider", "verbs", "spark.shuffle.rdma.testing.loopback", "false");
    return LocalCluster.start(Stream.concat(verbs, Stream.of(settings)).toArray(String[]::new));
  }
}
