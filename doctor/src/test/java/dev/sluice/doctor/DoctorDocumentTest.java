// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.qualify.QualifyCommand;
import dev.sluice.doctor.size.SizeCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The documents show the doctor's help and answers as they are. */
class DoctorDocumentTest {
  private static final Path DOCS = Path.of("..", "docs");

  /** A command of doctor size, and the block of its answer. */
  private static final Pattern SIZE =
      Pattern.compile(
          "```\njava -jar \\S+ doctor size ([^\n]+)\n```\n+```\n(.*?)```", Pattern.DOTALL);

  @Test
  void theHelpIsThatOfTheOptions() throws IOException {
    assertThat(DOCS.resolve("doctor.md")).content().contains("```\n" + Options.HELP + "```\n");
  }

  @Test
  void theHelpOfAnEventLogIsThatOfTheCommand() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    QualifyCommand.run(List.of("--help"), new PrintStream(out, true, UTF_8), System.err);
    assertThat(DOCS.resolve("doctor.md"))
        .content()
        .contains("```\n" + out.toString(UTF_8) + "```\n");
  }

  @Test
  void theSizesAreThoseOfTheCommand() throws IOException {
    Matcher shown = SIZE.matcher(Files.readString(DOCS.resolve("sizing.md")));
    assertThat(shown.find()).isTrue();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SizeCommand.run(
        List.of(shown.group(1).split(" ")), new PrintStream(out, true, UTF_8), System.err);
    assertThat(shown.group(2)).isEqualTo(out.toString(UTF_8));
  }
}
