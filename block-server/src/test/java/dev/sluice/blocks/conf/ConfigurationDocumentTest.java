// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Writes docs/configuration.md from the table of settings, and fails when it is stale. */
class ConfigurationDocumentTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "configuration.md");

  /** {@code mvn test -Dtest=ConfigurationDocumentTest -Dsluice.docs.write=true} writes it. */
  @Test
  void theDocumentIsThatOfTheTable() throws IOException {
    if (Boolean.getBoolean("sluice.docs.write")) {
      Files.writeString(DOCUMENT, text());
    }
    assertThat(DOCUMENT).hasContent(text());
  }

  private static String text() {
    return """
            # Configuration

            Generated from `dev.sluice.blocks.conf.ExecutorSettings`; do not edit. Times and sizes are in
            Spark's own syntax. An unknown key with the prefix `spark.shuffle.rdma.` and a value that
            is not allowed end the application at its start.

            | Key | Default | Allowed | Meaning |
            | --- | --- | --- | --- |
            """
        + SettingTable.write(ExecutorSettings.TABLE.rows(), "| `%1$s` | %3$s | %4$s | %5$s |\n");
  }
}
