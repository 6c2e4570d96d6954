// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs applications at a node daemon one after the other, without Spark, which takes seconds to
 * start. Each has two executors in this process, and sends all messages of executors and driver.
 * {@link NodeLevels} calls it on the command's thread.
 *
 * @param socket socket of the node daemon
 * @param outputs map outputs of each shuffle
 */
record SimulatedApplications(Path socket, SampleOutputs outputs) {
  private static final int SHUFFLES = 3;

  /**
   * Makes all executors read all of each shuffle; each shuffle then ends in a different way: 0 by
   * its removal, 1 because the driver no longer renews it, 2 with the application.
   */
  void run(String application) throws IOException, InterruptedException {
    String run = application + "-0";
    try (BareExecutor first = new BareExecutor(socket, application, run, "0");
        BareExecutor second = new BareExecutor(socket, application, run, "1")) {
      List<BareExecutor> executors = List.of(first, second);
      for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
        for (int map = 0; map < outputs.maps(); map++) {
          executors.get(map % executors.size()).handOver(shuffle, map, outputs);
        }
        for (BareExecutor executor : executors) {
          for (int map = 0; map < outputs.maps(); map++) {
            executor.read(shuffle, map, outputs);
          }
        }
      }
      first.tell(new RemoveShuffle(0));
      NodeResponse heard = first.tell(new Renew(new int[] {1, 2}, NodeResponse.NEVER));
      first.tell(new Renew(new int[] {2}, heard)); // ends 1
      first.tell(new EndApplication());
    }
  }
}
