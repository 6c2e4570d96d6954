// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps the documents short. Counts words of prose as {@link PlainEnglishTest} does, without blocks
 * of code. Generated documents, generated parts and the tables below docs/figures do not count.
 */
class DocumentLengthTest {
  private static final Path ROOT = Path.of("..");
  private static final int MAX_WORDS = 25_725;
  private static final int MAX_README_WORDS = 1_000;
  private static final Set<String> GENERATED =
      Set.of("configuration.md", "mapreduce-settings.md", "metrics.md", "verbs-functions.md");
  private static final String GENERATED_PART = "(?s)<!-- (goals|rows: [^>]+) -->\n.*?<!-- end -->";
  private static final String TABLE_LINE = "(?m)^\\|.*$";

  @Test
  void documentsStayShort() throws IOException {
    Path docs = ROOT.resolve("docs");
    List<Path> written = written(docs);
    assertThat(written).contains(docs.resolve("quick-start.md"), docs.resolve("dev/how-to.md"));
    long words = 0;
    for (Path document : written) {
      words += words(document);
    }
    assertThat(words).as("words of docs: shorten a page").isLessThanOrEqualTo(MAX_WORDS);
  }

  @Test
  void theReadmeStaysShort() throws IOException {
    assertThat(words(ROOT.resolve("README.md"))).isLessThanOrEqualTo(MAX_README_WORDS);
  }

  @Test
  void generatedDocumentsSaySo() throws IOException {
    for (String name : GENERATED) {
      assertThat(ROOT.resolve("docs").resolve(name)).content().contains("\nGenerated ");
    }
  }

  private static List<Path> written(Path docs) throws IOException {
    try (Stream<Path> files = Files.walk(docs)) {
      return files
          .filter(file -> file.toString().endsWith(".md"))
          .filter(file -> !GENERATED.contains(docs.relativize(file).toString()))
          .toList();
    }
  }

  private static long words(Path document) throws IOException {
    String text = Files.readString(document).replaceAll(GENERATED_PART, "");
    if (document.getParent().endsWith("figures")) {
      text = text.replaceAll(TABLE_LINE, "");
    }
    return PlainEnglishTest.Count.of(PlainEnglishTest.prose(PlainEnglishTest.withoutCode(text)))
        .words();
  }
}
