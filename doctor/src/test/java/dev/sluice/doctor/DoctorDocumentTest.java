// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The document shows the doctor's help as it is. */
class DoctorDocumentTest {
  private static final Path DOCS = Path.of("..", "docs");

  @Test
  void theHelpIsThatOfTheOptions() throws IOException {
    assertThat(DOCS.resolve("doctor.md")).content().contains("```\n" + Options.HELP + "```\n");
  }
}
