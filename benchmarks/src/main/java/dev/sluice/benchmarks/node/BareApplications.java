package dev.sluice.benchmarks.node;

import dev.sluice.benchmarks.stage.SampleOutputs;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Heard;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Applications at a node, one after the other, without a Spark around them, which takes seconds to
 * start: two executors each, in this process, and all that these and a driver say to the node.
 *
 * @param socket of the node's block server
 * @param outputs what each shuffle of them is
 */
record BareApplications(Path socket, SampleOutputs outputs) {
  private static final int SHUFFLES = 3;

  /** All executors read all of each shuffle, of which each ends in another way. */
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
      Heard heard = first.tell(new Renew(new int[] {1, 2}, Heard.NEVER));
      first.tell(new Renew(new int[] {2}, heard)); // so 1 is over
      first.tell(new EndApplication());
    }
  }
}
