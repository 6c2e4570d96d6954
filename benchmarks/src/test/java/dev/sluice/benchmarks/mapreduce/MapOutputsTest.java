// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Map outputs by MapReduce's collector, as their index describes them. */
class MapOutputsTest {
  private static final int MAPS = 12;
  private static final int REDUCERS = 3;
  private static final int PARTITION_BYTES = 2_000;

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theIndexOfEachMapOutputCoversItsFile(boolean compressed) throws Exception {
    MapOutputs outputs = new MapOutputs(MAPS, REDUCERS, PARTITION_BYTES, compressed);
    outputs.write(this::folder, directory.resolve("scratch"));
    for (int map = 0; map < MAPS; map++) {
      ByteBuffer index = ByteBuffer.wrap(Files.readAllBytes(folder(map).resolve("file.out.index")));
      CRC32 crc = new CRC32();
      crc.update(index.duplicate().limit(REDUCERS * 3 * Long.BYTES));
      long end = 0;
      for (int partition = 0; partition < REDUCERS; partition++) {
        assertThat(index.getLong()).as("start").isEqualTo(end);
        assertThat(index.getLong()).as("raw bytes").isGreaterThan(PARTITION_BYTES);
        end += index.getLong();
      }
      assertThat(index.getLong()).as("checksum").isEqualTo(crc.getValue());
      assertThat(Files.size(folder(map).resolve("file.out"))).isEqualTo(end);
    }
    assertThat(directory.resolve("scratch")).doesNotExist();
  }

  @Test
  void compressionMakesFilesSmaller() throws Exception {
    new MapOutputs(1, 1, 100_000, false).write(_ -> folder(0), directory.resolve("scratch"));
    new MapOutputs(1, 1, 100_000, true).write(_ -> folder(1), directory.resolve("scratch"));
    assertThat(Files.size(folder(1).resolve("file.out")))
        .isLessThan(Files.size(folder(0).resolve("file.out")) * 9 / 10);
  }

  private Path folder(int map) {
    return directory.resolve("map-" + map);
  }
}
