package dev.sluice.spark.conf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes docs/configuration.md from the table of settings; a test fails when that is stale. */
final class ConfigurationDocument {
  private ConfigurationDocument() {}

  /**
   * Writes the document.
   *
   * @param args the file to write
   */
  public static void main(String[] args) throws IOException {
    Files.writeString(Path.of(args[0]), text());
  }

  static String text() {
    StringBuilder out =
        new StringBuilder(
            """
            # Configuration

            Generated from `dev.sluice.spark.conf.Settings`; do not edit. Times and sizes are in
            Spark's own syntax. An unknown key with the prefix `spark.shuffle.rdma.` and a value that
            is not allowed end the application at its start.

            | Key | Default | Allowed | Meaning |
            | --- | --- | --- | --- |
            """);
    for (Setting<?> setting : Settings.table()) {
      out.append(
          "| `%s` | %s | %s | %s |\n"
              .formatted(
                  setting.key(), setting.defaultText(), setting.type().allowed(), setting.doc()));
    }
    return out.toString();
  }
}
