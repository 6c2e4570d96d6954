// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A process of {@link IbvForkTest}. It starts children while one of its threads changes registered
 * memory and READs it. A process of its own, because a JVM fixes its way to start processes when it
 * starts the first.
 */
final class ReadingParent extends IbvTestCase {
  static final String DONE = "all READs brought what was written";

  private static final int CHILDREN = 5;

  /** A child that forks itself, as Spark's Python daemon does. */
  private static final String FORKING_CHILD = "(exit 0) && (exit 0) && exec true";

  private final AtomicBoolean childrenEnded = new AtomicBoolean();

  /**
   * @param args true to tell the library to mark pages
   */
  public static void main(String[] args) throws Exception {
    if (Boolean.parseBoolean(args[0])) {
      IbvFork.init();
      assertThat(IbvFork.status().known().orElseThrow())
          .isIn(IbvFork.Status.ENABLED, IbvFork.Status.UNNEEDED);
    }
    ReadingParent parent = new ReadingParent();
    parent.openDevice();
    try {
      parent.readWhileChildrenRun();
    } finally {
      parent.closeDevice();
    }
    System.out.println(DONE);
  }

  private void readWhileChildrenRun() throws Exception {
    Pair pair = pair(IbvQp.Type.RC);
    FutureTask<Integer> reads = new FutureTask<>(() -> readUntilTheyEnded(pair));
    Thread reader = Thread.ofPlatform().daemon().start(reads);
    try {
      for (int i = 0; i < CHILDREN; i++) {
        Process child = new ProcessBuilder(List.of("/bin/sh", "-c", FORKING_CHILD)).start();
        assertThat(child.waitFor(DEADLINE_MS, TimeUnit.MILLISECONDS)).isTrue();
        assertThat(child.exitValue()).isZero();
      }
    } finally {
      childrenEnded.set(true);
      reader.join(DEADLINE_MS);
    }
    assertThat(reads.get(DEADLINE_MS, TimeUnit.MILLISECONDS)).isPositive();
  }

  private int readUntilTheyEnded(Pair pair) throws Exception {
    int round = 0;
    do {
      pair.server().fill(round);
      pair.client()
          .succeed(
              pair.client()
                  .request(IbvSendWrList.Opcode.RDMA_READ, MEMORY_BYTES)
                  .rdma(pair.server().mr.address(), pair.server().mr.rkey()));
      pair.client().assertHolds(round, MEMORY_BYTES);
      round++;
    } while (!childrenEnded.get());
    return round;
  }
}
