package dev.sluice.rdma.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A process of {@link IbvForkTest} that starts others while one of its threads changes registered
 * memory and READs it. Java's way to start processes is fixed when a JVM starts its first.
 */
final class ReadingParent extends IbvTestCase {
  static final String DONE = "all READs brought what was written";

  private static final int CHILDREN = 5;

  /** A child that forks itself, as Spark's Python daemon does. */
  private static final String FORKING_CHILD = "(exit 0) && (exit 0) && exec true";

  private final AtomicBoolean childrenEnded = new AtomicBoolean();

  /**
   * @param args whether the library is told to mark pages
   */
  public static void main(String[] args) throws Exception {
    if (Boolean.parseBoolean(args[0])) {
      IbvFork.init();
      assertThat(IbvFork.status()).isIn(IbvForkStatus.ENABLED, IbvForkStatus.UNNEEDED);
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
    Pair pair = pair(IbvQpType.RC);
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
                  .request(IbvWrOpcode.RDMA_READ, MEMORY_BYTES)
                  .rdma(pair.server().mr.address(), pair.server().mr.rkey()));
      pair.client().assertHolds(round, MEMORY_BYTES);
      round++;
    } while (!childrenEnded.get());
    return round;
  }
}
