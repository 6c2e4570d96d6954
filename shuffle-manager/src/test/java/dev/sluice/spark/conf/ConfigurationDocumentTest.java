package dev.sluice.spark.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConfigurationDocumentTest {
  private static final Path DOCUMENT =
      Path.of(System.getProperty("sluice.basedir", "."), "..", "docs", "configuration.md");

  /** {@code mvn test -Dtest=ConfigurationDocumentTest -Dsluice.docs.write=true} writes it. */
  @Test
  void theDocumentIsThatOfTheTable() throws IOException {
    if (Boolean.getBoolean("sluice.docs.write")) {
      ConfigurationDocument.main(new String[] {DOCUMENT.toString()});
    }
    assertThat(DOCUMENT).hasContent(ConfigurationDocument.text());
  }
}
