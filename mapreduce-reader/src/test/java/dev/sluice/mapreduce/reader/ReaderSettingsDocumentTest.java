// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.conf.SettingTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Writes docs/mapreduce-settings.md from the table of settings, and fails when it is stale. */
final class ReaderSettingsDocumentTest {
  private static final Path DOCUMENT =
      Path.of(System.getProperty("sluice.basedir", "."), "..", "docs", "mapreduce-settings.md");

  /** {@code mvn test -Dtest=ReaderSettingsDocumentTest -Dsluice.docs.write=true} writes it. */
  @Test
  void theDocumentIsThatOfTheTable() throws IOException {
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(DOCUMENT, text());
    }
    assertThat(DOCUMENT).hasContent(text());
  }

  private static String text() {
    return """
            # Settings of MapReduce

            Generated from `dev.sluice.mapreduce.reader.ReaderSettings`; do not edit. The keys belong
            in mapred-site.xml, or are given to a job by `-D`. The settings of RDMA devices are those of
            [Spark](configuration.md), with the prefix `sluice.mapreduce.` instead of
            `spark.shuffle.rdma.`. After an unknown key or a value that is not allowed, a reduce task
            fetches by HTTP, and its log names the key.

            | Key | Default | Allowed | Meaning |
            | --- | --- | --- | --- |
            """
        + SettingTable.write(ReaderSettings.OWN, "| `%1$s` | %3$s | %4$s | %5$s |\n");
  }
}
