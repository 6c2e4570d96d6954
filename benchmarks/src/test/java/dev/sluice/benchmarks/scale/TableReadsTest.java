package dev.sluice.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.PartitionTable;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TableReadsTest {
  private static final int MAPS = 10;
  private static final int PAGE_BYTES = 65 * PartitionTable.ENTRY_BYTES;

  @Test
  void aPageIsReadOnceForItsPartitions() throws Exception {
    try (ExecutorGroup group = ExecutorGroup.start(2);
        TableReads tables = new TableReads(group.get(0), group.get(1), 1000, 1 << 20)) {
      tables.fetch(LongStream.range(0, MAPS), 0);
      tables.fetch(LongStream.range(0, MAPS), 63);

      assertThat(tables.tableBytes()).isEqualTo(MAPS * PAGE_BYTES);
      assertThat(tables.reads()).isEqualTo(3 * MAPS);
    }
  }

  @Test
  void partitionsOfOtherPagesAreReadEach() throws Exception {
    try (ExecutorGroup group = ExecutorGroup.start(2);
        TableReads tables = new TableReads(group.get(0), group.get(1), 1000, 1 << 20)) {
      tables.fetch(LongStream.range(0, MAPS), 0);
      tables.fetch(LongStream.range(0, MAPS), 64);

      assertThat(tables.tableBytes()).isEqualTo(2 * MAPS * PAGE_BYTES);
      assertThat(tables.reads()).isEqualTo(4 * MAPS);
    }
  }
}
