// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two local directories with a map output in each, neither of them registered. Tests may make one
 * disk hang ({@code SlowFile}). The test that creates it closes it.
 */
public final class TwoDisks implements AutoCloseable {
  public static final int SHUFFLE = 3;
  public static final long SLOW = 1;
  public static final long FAST = 2;
  public static final RegistryLimits NONE_REGISTERED = new RegistryLimits(0, 100, 1_000);

  public final FakeProtectionDomain domain = new FakeProtectionDomain();
  public final LocalDirectories directories;
  public final TestMapOutputs slow;
  public final TestMapOutputs fast;
  public final MapOutputRegistry registry;

  /** Writes the map outputs, with partitions of the given sizes in bytes. */
  public TwoDisks(Path slowDirectory, int[] slowBytes, Path fastDirectory, int[] fastBytes)
      throws Exception {
    directories = LocalDirectories.unregistered(List.of(slowDirectory, fastDirectory));
    slow = new TestMapOutputs(slowDirectory);
    fast = new TestMapOutputs(fastDirectory);
    slow.write(SHUFFLE, SLOW, slowBytes);
    fast.write(SHUFFLE, FAST, fastBytes);
    registry =
        registry(
            directories,
            (shuffleId, mapId) -> (mapId == SLOW ? slow : fast).find(shuffleId, mapId),
            NONE_REGISTERED);
    registry.resolve(SHUFFLE, new long[] {SLOW, FAST}).get(10, TimeUnit.SECONDS);
  }

  /** Creates another registry of the same domain, which the caller closes. */
  public MapOutputRegistry registry(
      LocalDirectories among, MapOutputFiles files, RegistryLimits limits) {
    return new MapOutputRegistry(domain, among, files, limits, new RecordingListener(), () -> 0);
  }

  @Override
  public void close() {
    registry.close();
  }
}
