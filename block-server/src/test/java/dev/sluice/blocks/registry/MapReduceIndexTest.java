// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.FileGuard;
import dev.sluice.blocks.directory.InconsistentFilesException;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.TableEntry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Index files of MapReduce, read as a whole and in pages. */
class MapReduceIndexTest {
  private static final int PAGE = IndexTable.PAGE_PARTITIONS;
  private static final int PARTITIONS = 2 * PAGE + 7;

  @TempDir Path directory;
  private final int[] lengths = new Random(1).ints(PARTITIONS, 2, 100).toArray();
  private Path file;
  private MapOutputFiles.Files files;

  @BeforeEach
  void write() throws Exception {
    file = directory.resolve("file.out.index");
    files =
        new MapOutputFiles.Files(
            directory.resolve("file.out"),
            file,
            null,
            ChecksumAlgorithm.NONE,
            IndexFormat.MAPREDUCE,
            FileGuard.NONE);
    write(longs());
  }

  /** Start, raw length and length of each partition. */
  private long[] longs() {
    long[] longs = new long[3 * PARTITIONS];
    long start = 0;
    for (int i = 0; i < PARTITIONS; i++) {
      longs[3 * i] = start;
      longs[3 * i + 1] = 10L * lengths[i];
      longs[3 * i + 2] = lengths[i];
      start += lengths[i];
    }
    return longs;
  }

  /** Writes the longs as Hadoop does, with their checksum. */
  private void write(long... longs) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((longs.length + 1) * Long.BYTES);
    for (long each : longs) {
      bytes.putLong(each);
    }
    CRC32 crc = new CRC32();
    crc.update(bytes.array(), 0, bytes.position());
    bytes.putLong(crc.getValue());
    Files.write(file, bytes.array());
  }

  private IndexTable table() throws IOException {
    MapOutputIndex index = MapOutputIndex.read(files);
    return new IndexTable(new IndexCache(0), files, index.partitions(), index.dataBytes());
  }

  private void assertEntries(IndexTable table, int start, int end) throws IOException {
    long[] entries = table.entries(start, end);
    long[] expected = longs();
    for (int i = start; i < end; i++) {
      long first = entries[2 * (i - start)];
      long second = entries[2 * (i - start) + 1];
      assertThat(TableEntry.offset(first)).isEqualTo(expected[3 * i]);
      assertThat(TableEntry.length(first, second)).isEqualTo(lengths[i]);
      assertThat(TableEntry.checksum(second)).isEqualTo(10L * lengths[i]);
    }
  }

  @Test
  void entriesHaveTheRawLengthInAnyPage() throws Exception {
    IndexTable table = table();
    assertThat(table.partitions()).isEqualTo(PARTITIONS);
    assertEntries(table, 0, 1);
    assertEntries(table, PAGE - 1, PAGE + 1);
    assertEntries(table, 5, PARTITIONS);
    assertEntries(table, PARTITIONS - 1, PARTITIONS);
  }

  @Test
  void aRawLengthOfFourGibibytesIsMarked() throws Exception {
    for (long raw : new long[] {0xFFFF_FFFFL, 1L << 32, Long.MAX_VALUE, -1}) {
      write(0, raw, 10);
      assertThat(TableEntry.checksum(table().entries(0, 1)[1])).isEqualTo(0xFFFF_FFFFL);
    }
    write(0, 0xFFFF_FFFEL, 10);
    assertThat(TableEntry.checksum(table().entries(0, 1)[1])).isEqualTo(0xFFFF_FFFEL);
  }

  private void assertRefused(long... longs) throws Exception {
    write(longs);
    assertRefused();
  }

  private void assertRefused() {
    assertThatThrownBy(() -> MapOutputIndex.read(files))
        .isInstanceOf(InconsistentFilesException.class);
  }

  @Test
  void partitionsThatDoNotLieBackToBackAreRefused() throws Exception {
    write(0, 5, 10, 10, 5, 10);
    assertThat(MapOutputIndex.read(files).dataBytes()).isEqualTo(20);
    assertRefused(0, 5, 10, 11, 5, 10);
    assertRefused(0, 5, 10, 9, 5, 10);
    assertRefused(10, 5, 10, 0, 5, 10);
    assertRefused(1, 5, 10);
    assertRefused(0, 5, -1);
    assertRefused(0, 5, 1L << 48);
    assertRefused(0, 5, Long.MAX_VALUE, Long.MAX_VALUE, 5, Long.MAX_VALUE);
  }

  @Test
  void anIndexThatDiffersFromItsChecksumIsRefused() throws Exception {
    byte[] bytes = Files.readAllBytes(file);
    for (int at : new int[] {8, bytes.length - 1, bytes.length - 8}) {
      byte[] flipped = bytes.clone();
      flipped[at] ^= 1;
      Files.write(file, flipped);
      assertRefused();
    }
  }

  @Test
  void anIndexThatIsCutOffOrLongerIsRefused() throws Exception {
    byte[] bytes = Files.readAllBytes(file);
    for (int length : new int[] {0, 7, 8, 16, 24, bytes.length - 24, bytes.length - 1}) {
      Files.write(file, Arrays.copyOf(bytes, length));
      assertRefused();
    }
    Files.write(file, Arrays.copyOf(bytes, bytes.length + 24));
    assertRefused();
  }

  /** The job's user may make it as large as a disk. */
  @Test
  void anIndexOfMorePartitionsThanAllowedIsNotRead() throws Exception {
    long[] most = new long[3 * 131_072];
    write(most);
    assertThat(MapOutputIndex.read(files).partitions()).isEqualTo(131_072);
    assertThat(MapOutputIndex.partitions(files)).isEqualTo(131_072);
    write(Arrays.copyOf(most, most.length + 3));
    assertThatThrownBy(() -> MapOutputIndex.read(files))
        .isInstanceOf(InconsistentFilesException.class)
        .hasMessageContaining("more than those of 131072 partitions");
    assertThat(MapOutputIndex.partitions(files)).isNegative();
  }

  @Test
  void aPageThatHasChangedIsAnError() throws Exception {
    IndexTable table = table();
    long[] changed = longs();
    changed[3 * PAGE + 2]++;
    write(changed);
    assertEntries(table, 0, PAGE);
    assertThatThrownBy(() -> table.entries(PAGE, PAGE + 1))
        .isInstanceOf(InconsistentFilesException.class)
        .hasMessageContaining("does not fit its map output, or has changed");
    write(Arrays.copyOf(longs(), 3 * PAGE));
    assertThatThrownBy(() -> table.entries(0, 1))
        .hasMessageContaining("does not fit its map output, or has changed");
  }
}
