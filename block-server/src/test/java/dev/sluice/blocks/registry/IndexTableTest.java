// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.TableEntry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Partition tables in index files, and the limit on cached table pages. */
class IndexTableTest {
  private static final int SHUFFLE = 3;
  private static final int PAGE = IndexTable.PAGE_PARTITIONS;
  private static final int PARTITIONS = 3 * PAGE + 7;
  private static final long PAGE_BYTES = PAGE * TableEntry.BYTES + 1_200;

  @TempDir Path directory;
  private final int[] lengths = new Random(1).ints(PARTITIONS, 0, 100).toArray();
  private TestMapOutputs outputs;
  private byte[] data;
  private IndexCache cache = new IndexCache(8 << 20);
  private IndexTable table;

  @BeforeEach
  void write() throws Exception {
    outputs = new TestMapOutputs(directory);
    data = outputs.write(SHUFFLE, 7, lengths);
    table = table();
  }

  private IndexTable table() throws IOException {
    MapOutputFiles.Files files = outputs.find(SHUFFLE, 7);
    return new IndexTable(cache, files, PARTITIONS, data.length);
  }

  private void assertEntries(int start, int end) throws IOException {
    long[] entries = table.entries(start, end);
    assertThat(entries).hasSize(2 * (end - start));
    int offset = 0;
    for (int partition = 0; partition < end; partition++) {
      if (partition >= start) {
        long first = entries[2 * (partition - start)];
        long second = entries[2 * (partition - start) + 1];
        assertThat(TableEntry.offset(first)).isEqualTo(offset);
        assertThat(TableEntry.length(first, second)).isEqualTo(lengths[partition]);
        assertThat(TableEntry.checksum(second))
            .isEqualTo(TestMapOutputs.checksum(data, offset, lengths[partition]));
      }
      offset += lengths[partition];
    }
  }

  @Test
  void entriesEqualThoseOfTheFilesInAnyPage() throws Exception {
    assertEntries(0, 1);
    assertEntries(PAGE - 1, PAGE + 1);
    assertEntries(5, PARTITIONS);
    assertEntries(PARTITIONS - 1, PARTITIONS);
    assertThat(outputs.openFiles()).isZero();
  }

  @Test
  void withoutChecksumsThereAreNone() throws Exception {
    Files.delete(outputs.checksums(SHUFFLE, 7));
    table = table();
    assertThat(TableEntry.checksum(table.entries(0, 1)[1])).isZero();
  }

  @Test
  void recentlyReadPagesAreNotReadAgain() throws Exception {
    assertEntries(0, PAGE);
    Files.delete(outputs.index(SHUFFLE, 7));
    assertEntries(10, 20);
    assertThatThrownBy(() -> table.entries(PAGE, PAGE + 1)).isInstanceOf(IOException.class);
  }

  @Test
  void onlyRecentlyReadPagesAreCached() throws Exception {
    assertThat(table.known(10, 20)).isNull();
    assertEntries(PAGE, 2 * PAGE);
    assertThat(table.known(PAGE + 3, 2 * PAGE)).isEqualTo(table.entries(PAGE + 3, 2 * PAGE));
    assertThat(table.known(PAGE - 1, 2 * PAGE)).isNull();
    assertThat(table.known(2 * PAGE - 1, 2 * PAGE + 1)).isNull();
  }

  /** Reads more than the cache holds, several times: entries and the cache's size stay right. */
  @Test
  void noMoreThanTheLimitIsKept() throws Exception {
    cache = new IndexCache(2 * PAGE_BYTES);
    table = table();
    for (int i = 0; i < 4; i++) {
      assertEntries(0, PARTITIONS);
      assertThat(cache.heapBytes()).isBetween(1L, 2 * PAGE_BYTES);
    }
  }

  @Test
  void aLargeHeapKeepsMore() {
    assertThat(IndexCache.maxBytes(1L << 30)).isEqualTo(8 << 20);
    assertThat(IndexCache.maxBytes(32L << 30)).isEqualTo(256 << 20);
  }

  @Test
  void theLeastRecentlyUsedPageLeaves() throws Exception {
    cache = new IndexCache(2 * PAGE_BYTES);
    table = table();
    for (int page : new int[] {0, 1, 0, 2}) {
      table.entries(page * PAGE, page * PAGE + 1);
    }
    Files.delete(outputs.index(SHUFFLE, 7));
    assertEntries(0, 1);
    assertThatThrownBy(() -> table.entries(PAGE, PAGE + 1)).isInstanceOf(IOException.class);
  }

  @Test
  void tablesAreReadWithoutACache() throws Exception {
    cache = new IndexCache(0);
    table = table();
    assertEntries(0, PARTITIONS);
    assertThat(cache.heapBytes()).isZero();
  }

  @Test
  void anIndexThatIsCutOffIsAnErrorAlsoBeforeTheCut() throws Exception {
    truncate(outputs.index(SHUFFLE, 7), PARTITIONS * Long.BYTES);
    assertThatThrownBy(() -> table.entries(0, 1))
        .hasMessageContaining("does not fit its map output, or has changed");
  }

  @Test
  void checksumsThatAreCutOffAreAnError() throws Exception {
    truncate(outputs.checksums(SHUFFLE, 7), 8);
    assertThatThrownBy(() -> table.entries(0, 1))
        .hasMessageContaining("does not fit its map output, or has changed");
  }

  private static void truncate(Path path, long bytes) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(bytes);
    }
  }

  @Test
  void filesThatAreGoneAreAnError() throws Exception {
    outputs.delete(SHUFFLE, 7);
    assertThatThrownBy(() -> table.entries(0, 1)).isInstanceOf(IOException.class);
  }

  @Test
  void offsetsThatCannotBeTheFilesAreAnError() throws Exception {
    for (long wrong : new long[] {-1, data.length + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      try (FileChannel file =
          FileChannel.open(outputs.index(SHUFFLE, 7), StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.allocate(Long.BYTES).putLong(0, wrong), 5 * Long.BYTES);
      }
      assertThatThrownBy(() -> table.entries(0, 1))
          .hasMessageContaining("does not fit its map output, or has changed");
    }
  }
}
