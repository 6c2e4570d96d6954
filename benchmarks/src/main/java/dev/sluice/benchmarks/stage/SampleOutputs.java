// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.stage;

import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.testkit.Commands;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * Map outputs with ids from 0, in the form that Spark writes, with partitions of equal length. The
 * bytes are the same in each directory, and every shuffle id has the same files. Any thread may
 * find them; {@link #write} comes first, in this process or in another.
 */
public record SampleOutputs(Path directory, int maps, int partitions, int partitionBytes)
    implements MapOutputFiles {
  @Override
  public Files find(int shuffleId, long mapId) {
    return new Files(
        path(mapId, "data"),
        path(mapId, "index"),
        path(mapId, "checksum"),
        ChecksumAlgorithm.CRC32C);
  }

  Path path(long mapId, String suffix) {
    return directory.resolve(mapId + "." + suffix);
  }

  /**
   * Writes them to disk; they stay in the page cache.
   *
   * @return checksums of the partitions of each map output
   */
  public long[][] write() throws IOException {
    long[][] checksums = new long[maps][partitions];
    byte[] bytes = new byte[partitionBytes];
    for (int map = 0; map < maps; map++) {
      SplittableRandom random = new SplittableRandom(map);
      try (DataOutputStream data = open(map, "data");
          DataOutputStream index = open(map, "index");
          DataOutputStream sums = open(map, "checksum")) {
        index.writeLong(0);
        for (int partition = 0; partition < partitions; partition++) {
          random.nextBytes(bytes);
          data.write(bytes);
          index.writeLong((partition + 1L) * partitionBytes);
          checksums[map][partition] = checksum(bytes);
          sums.writeLong(checksums[map][partition]);
        }
      }
    }
    Commands.run(List.of("sync", "--file-system", directory.toString()));
    return checksums;
  }

  private DataOutputStream open(int map, String suffix) throws IOException {
    return new DataOutputStream(
        new BufferedOutputStream(java.nio.file.Files.newOutputStream(path(map, suffix))));
  }

  private static long checksum(byte[] bytes) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes);
    return checksum.getValue();
  }

  /** Drops the data from the page cache. */
  void dropFromCache() throws IOException {
    for (int map = 0; map < maps; map++) {
      Commands.dropFromCache(path(map, "data"));
    }
  }
}
