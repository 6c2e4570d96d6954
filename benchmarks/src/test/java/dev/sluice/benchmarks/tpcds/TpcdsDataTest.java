// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.tpcds.TpcdsData.TableColumns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TpcdsDataTest {
  @TempDir private Path directory;

  private Path tables(String name, String owner) throws IOException {
    Path tables = Files.createDirectory(directory.resolve(name));
    for (String table : TableColumns.byTable().keySet()) {
      Files.createFile(Files.createDirectory(tables.resolve(table)).resolve("_SUCCESS"));
    }
    Files.createFile(tables.resolve(owner));
    return tables;
  }

  /** Another process may have been faster, and reads them. */
  @Test
  void tablesThatAreCompleteStay() throws IOException {
    Path kept = tables("kept", "other");
    Path made = tables("made", "own");
    TpcdsData.publish(made, kept);
    assertThat(kept.resolve("other")).exists();
    assertThat(kept.resolve("own")).doesNotExist();
    assertThat(made).doesNotExist();
  }

  @Test
  void tablesThatAreNotCompleteAreReplaced() throws IOException {
    Path kept = tables("kept", "other");
    Files.delete(kept.resolve("store_sales").resolve("_SUCCESS"));
    TpcdsData.publish(tables("made", "own"), kept);
    assertThat(kept.resolve("own")).exists();
    assertThat(kept.resolve("other")).doesNotExist();
  }
}
