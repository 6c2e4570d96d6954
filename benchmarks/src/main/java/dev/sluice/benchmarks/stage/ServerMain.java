// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.testkit.AnsweringProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The process that stages, with an executor for each argument, the directory of its map outputs. It
 * answers {@link #ADDRESSES} with the executors' addresses, and any other line with the seconds that
 * a task of its own took. {@link StageCommand} starts it on one core; its main thread answers. It
 * ends when its standard input ends.
 */
final class ServerMain {
  static final String ADDRESSES = "addresses";

  /** A small pool, since the servers READ nothing. */
  private static final long POOL_BYTES = 4 << 20;

  /** Number of steps that take a core about a second. */
  private static final int STEPS = 500_000_000;

  /** Result of the task, so that the compiler cannot remove it. */
  @SuppressWarnings("UnusedVariable")
  private static volatile long result;

  private ServerMain() {}

  public static void main(String[] directories) throws Exception {
    List<NetworkParts> servers = new ArrayList<>();
    for (String name : directories) {
      Path directory = Path.of(name);
      String id = ProcessHandle.current().pid() + "-" + servers.size();
      SampleOutputs outputs = new SampleOutputs(directory, 0, 0, 0);
      servers.add(new NetworkParts(id, POOL_BYTES, outputs, List.of(directory)));
    }
    AnsweringProcess.answer(
        System.out,
        line ->
            line.equals(ADDRESSES)
                ? servers.stream().map(NetworkParts::address).toList()
                : ownTask());
    servers.forEach(NetworkParts::close);
  }

  private static double ownTask() {
    long start = System.nanoTime();
    long state = start;
    for (int i = 0; i < STEPS; i++) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
    }
    result = state;
    return (System.nanoTime() - start) / 1e9;
  }
}
