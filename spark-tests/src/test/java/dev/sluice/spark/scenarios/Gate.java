// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Holds tasks back in the middle of their input until the test opens the gate. Tasks and test
 * communicate by files, since they are in different processes.
 *
 * @param directory empty at the start
 */
public record Gate(String directory) implements Serializable {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final String OPEN = "open";

  /** A new gate, in a directory of its own in {@code parent}. */
  public static Gate create(Path parent) throws IOException {
    return new Gate(Files.createTempDirectory(parent, "gate").toString());
  }

  /** Called by a task: passes its input on, but waits after the first record. */
  public <T> Iterator<T> pass(Iterator<T> input) {
    return new Iterator<>() {
      private boolean waited;

      @Override
      public boolean hasNext() {
        return input.hasNext();
      }

      @Override
      public T next() {
        T record = input.next();
        if (!waited) {
          waited = true;
          arrive();
        }
        return record;
      }
    };
  }

  private void arrive() {
    try {
      Files.createFile(Path.of(directory, UUID.randomUUID().toString()));
      awaitFiles(1, OPEN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("The task was killed at the gate", e);
    }
  }

  /** Waits until so many tasks wait. */
  public void awaitArrivals(int tasks) throws IOException, InterruptedException {
    awaitFiles(tasks, "");
  }

  /** Lets all tasks pass from now on. */
  public void open() throws IOException {
    Files.createFile(Path.of(directory, OPEN));
  }

  private void awaitFiles(int count, String prefix) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (files(prefix) < count) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("The gate at " + directory + " has waited " + TIMEOUT);
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private long files(String prefix) throws IOException {
    try (Stream<Path> files = Files.list(Path.of(directory))) {
      return files.filter(file -> file.getFileName().toString().startsWith(prefix)).count();
    }
  }
}
