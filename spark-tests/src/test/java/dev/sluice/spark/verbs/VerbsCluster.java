// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import dev.sluice.spark.scenarios.LocalCluster;
import java.util.stream.Stream;

/**
 * Starts a local cluster whose executors READ from each other by verbs, and not from themselves.
 */
final class VerbsCluster {
  private VerbsCluster() {}

  /**
   * @param settings alternating keys and values
   */
  static LocalCluster start(String... settings) {
    Stream<String> verbs =
        Stream.of(
            "spark.shuffle.rdma.provider", "verbs", "spark.shuffle.rdma.testing.loopback", "false");
    return LocalCluster.start(Stream.concat(verbs, Stream.of(settings)).toArray(String[]::new));
  }
}
