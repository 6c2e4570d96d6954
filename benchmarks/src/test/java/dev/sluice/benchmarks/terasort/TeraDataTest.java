// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Progress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TeraDataTest {
  private static final long TIMEOUT_S = 120;
  private static final long BYTES = 200_000;

  @TempDir private Path directory;

  private TeraData.Input make(String run, CyclicBarrier together) throws Exception {
    TeraData data = new TeraData(directory, Files.createDirectory(directory.resolve(run)), 1);
    together.await(TIMEOUT_S, TimeUnit.SECONDS);
    return data.input(BYTES, Progress.onStandardError());
  }

  @Test
  void twoThatMakeTheSameInputAtOnceUseOne() throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<TeraData.Input> one = threads.submit(() -> make("run-1", together));
      Future<TeraData.Input> other = threads.submit(() -> make("run-2", together));
      TeraData.Input input = one.get(TIMEOUT_S, TimeUnit.SECONDS);
      assertThat(other.get(TIMEOUT_S, TimeUnit.SECONDS)).isEqualTo(input);
      assertThat(input.records()).isEqualTo(2_000);
      assertThat(TeraData.dataBytes(input.directory())).isEqualTo(BYTES);
    }
    assertThat(directory.resolve("run-1/input")).doesNotExist();
    assertThat(directory.resolve("run-2/input")).doesNotExist();
  }

  @Test
  void anInputThatIsNotCompleteIsMadeAgain() throws Exception {
    Path incomplete = Files.createDirectory(directory.resolve("input-200k"));
    Files.writeString(incomplete.resolve("part-m-00000"), "half");
    TeraData.Input input = make("run-1", new CyclicBarrier(1));
    assertThat(input.directory()).isEqualTo(incomplete);
    assertThat(TeraData.dataBytes(incomplete)).isEqualTo(BYTES);
  }
}
