package dev.sluice.benchmarks.registration;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Writes files in Spark's format that stand for every map output. */
final class SampleMapOutput {
  private static final int CHUNK_BYTES = 1 << 20;

  private SampleMapOutput() {}

  /** Writes random bytes in equal partitions, without checksums. */
  static MapOutputFiles write(Path directory, long bytes, int partitions) throws IOException {
    Path data = Files.createDirectories(directory).resolve("shuffle_" + bytes + ".data");
    Path index = directory.resolve("shuffle_" + bytes + ".index");
    byte[] chunk = new byte[CHUNK_BYTES];
    new Random(bytes).nextBytes(chunk);
    try (OutputStream out = Files.newOutputStream(data)) {
      for (long written = 0; written < bytes; written += CHUNK_BYTES) {
        out.write(chunk);
      }
    }
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(index))) {
      for (int i = 0; i <= partitions; i++) {
        out.writeLong(bytes * i / partitions);
      }
    }
    MapOutputFiles.Files files =
        new MapOutputFiles.Files(data, index, null, ChecksumAlgorithm.NONE);
    return (shuffleId, mapId) -> files;
  }
}
