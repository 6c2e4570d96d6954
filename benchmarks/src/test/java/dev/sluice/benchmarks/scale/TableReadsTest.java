package dev.sluice.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import org.junit.jupiter.api.Test;

class TableReadsTest {
  private static final int MAPS = 20; // segments of 8, 8 and 16 slots

  @Test
  void entriesAreReadEachTimeAndHeadersOnce() throws Exception {
    try (ExecutorGroup group = ExecutorGroup.start(2);
        TableReads tables = new TableReads(group.get(0), group.get(1), MAPS, 1000)) {
      tables.fetch(0, 0);
      long headerBytes = MAPS * MapOutputHeader.BYTES;
      assertThat(tables.tableBytes()).isEqualTo(headerBytes + MAPS * TableEntry.BYTES);
      assertThat(tables.reads()).isEqualTo(3 + 3 + MAPS);

      tables.fetch(0, 63);
      assertThat(tables.tableBytes()).isEqualTo(headerBytes + 2 * MAPS * TableEntry.BYTES);
      assertThat(tables.reads()).isEqualTo(3 + 2 * (3 + MAPS));
    }
  }
}
