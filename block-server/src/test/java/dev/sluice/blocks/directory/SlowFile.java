// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * A named pipe in place of a data file, which simulates a disk that does not answer. A thread that
 * opens it waits until {@link #answer}, and then cannot read from it. The pipe is deleted then.
 */
public final class SlowFile implements AutoCloseable {
  private final Path path;
  private boolean answered;

  private SlowFile(Path path) {
    this.path = path;
  }

  public static SlowFile inPlaceOf(Path file) throws IOException, InterruptedException {
    Files.delete(file);
    assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
    return new SlowFile(file);
  }

  /**
   * Waits until this number of threads wait for such files. Threads that open other files do so for
   * a moment, so each is seen several times.
   */
  public static void awaitReaders(int count) throws InterruptedException {
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    for (int seen = 0; seen < 5; seen = readers() < count ? 0 : seen + 1) {
      assertThat(System.nanoTime()).isLessThan(deadlineNs);
      Thread.sleep(5);
    }
  }

  public static long readers() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .filter(SlowFile::opens)
        .count();
  }

  private static boolean opens(StackTraceElement frame) {
    return frame.getMethodName().equals("open0")
        || frame.getClassName().endsWith(".FileFd") && frame.getMethodName().equals("tryOpen");
  }

  /** Lets the disk answer all waiting threads. Idempotent. */
  public void answer() throws IOException {
    if (!answered) {
      answered = true;
      // Opened also for reading, so that it does not block; deleted, so that no later open blocks.
      try (var _ = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        Files.delete(path);
      }
    }
  }

  @Override
  public void close() throws IOException {
    answer();
  }
}
