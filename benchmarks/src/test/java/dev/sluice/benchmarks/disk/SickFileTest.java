// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.disk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.disk.SickFile.Illness;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SickFileTest {
  private static final int BYTES = 1_000;

  @TempDir private Path directory;

  private SickFile file(Illness illness) throws IOException {
    return new SickFile(Files.write(directory.resolve("data"), new byte[BYTES]), illness);
  }

  @ParameterizedTest
  @EnumSource
  void thePageCacheHasNothingOfIt(Illness illness) throws IOException {
    try (SickFile file = file(illness)) {
      assertThat(file.tellsCached()).isTrue();
      assertThat(file.cachedBytes(0, BYTES)).isZero();
      assertThat(file.read(0, ByteBuffer.allocate(BYTES), true)).isZero();
    }
  }

  @Test
  void aSlowDiskGivesAllBytes() throws IOException {
    try (SickFile file = file(Illness.SLOW)) {
      assertThat(file.read(0, ByteBuffer.allocate(BYTES), false)).isEqualTo(BYTES);
    }
  }

  @Test
  void aHangingDiskGivesBytesWhenItIsHealed() throws Exception {
    try (SickFile file = file(Illness.HANGING)) {
      CompletableFuture<Integer> read =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return file.read(0, ByteBuffer.allocate(BYTES), false);
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThat(read).isNotDone();
      file.heal();
      assertThat(read.get(30, TimeUnit.SECONDS)).isEqualTo(BYTES);
    }
  }
}
