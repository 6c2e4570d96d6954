// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executors and shuffles that end leave nothing on the driver and on executors that stay. */
class LongApplicationTest {
  private static final int EARLY = 1_000;
  private static final int LATE = 10_000;

  /** 220 bytes for each executor and shuffle in between; a socket or a report takes far more. */
  private static final long NOISE_BYTES = 2_000_000;

  private static final long NOISE_FILES = 20;

  @TempDir Path directory;

  @Test
  void tenThousandExecutorsAndShufflesLeaveAsMuchAsAThousand() throws Exception {
    try (LongApplication application = new LongApplication(directory)) {
      run(application, 0, EARLY);
      long files = openFiles();
      int threads = Thread.activeCount();
      long bytes = usedBytes();

      run(application, EARLY, LATE);

      assertThat(openFiles()).isLessThanOrEqualTo(files + NOISE_FILES);
      assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
      assertThat(usedBytes()).isLessThanOrEqualTo(bytes + NOISE_BYTES);
      assertThat(application.totals()).hasSize(60).containsValue(2L * LATE);
    }
  }

  private static void run(LongApplication application, int from, int to) throws Exception {
    for (int id = from; id < to; id++) {
      application.executorAndShuffle(id);
    }
  }

  private static long openFiles() throws IOException {
    try (var files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  /** Returns the least bytes in use after any of five garbage collections. */
  private static long usedBytes() throws InterruptedException {
    Runtime runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      System.gc();
      TimeUnit.MILLISECONDS.sleep(50);
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
