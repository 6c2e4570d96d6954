// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegionLimit.OpenFileLimit;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node daemon has a registry for each application, and one cache for all of them. */
class SharedIndexCacheTest {
  private static final int SHUFFLE = 3;
  private static final long MAP = 7;

  /** More than one page of four partitions takes, and less than two. */
  private static final long LIMIT = 2_000;

  @TempDir Path directory;
  private final IndexCache cache = new IndexCache(LIMIT);

  @Test
  void allRegistriesTogetherKeepNoMoreThanTheLimit() throws Exception {
    try (MapOutputRegistry one = registry("one");
        MapOutputRegistry other = registry("other")) {
      read(one);
      long ofOne = cache.heapBytes();
      assertThat(ofOne).isPositive();
      read(other);
      assertThat(cache.heapBytes()).isEqualTo(ofOne);
      read(one);
      assertThat(cache.heapBytes()).isEqualTo(ofOne);
    }
  }

  @Test
  void aNodeDaemonHasMoreThanAnExecutor() {
    assertThat(IndexCache.maxNodeBytes(1L << 30)).isEqualTo(64 << 20);
    assertThat(IndexCache.maxNodeBytes(64 << 20)).isEqualTo(8 << 20);
  }

  private MapOutputRegistry registry(String name) throws Exception {
    TestMapOutputs outputs = new TestMapOutputs(Files.createDirectory(directory.resolve(name)));
    outputs.write(SHUFFLE, MAP, 100, 0, 4091, 9);
    MapOutputRegistry registry =
        new MapOutputRegistry(
            new FakeProtectionDomain(),
            outputs.directories(),
            outputs::find,
            new RegistryLimits(0, 100, 1_000),
            new OpenFileLimit(10),
            cache,
            new RecordingListener(),
            () -> 0);
    registry.resolve(SHUFFLE, new long[] {MAP}).get(10, TimeUnit.SECONDS);
    return registry;
  }

  private static void read(MapOutputRegistry registry) {
    assertThat(registry.reader(SHUFFLE).copy(MAP, 0, 1, new byte[100], 0)).isEqualTo(100);
  }
}
