// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links of documents to files of this repository and to headings in them. */
class LinksTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s#]*)(?:#([^)\\s]+))?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  @Test
  void filesAndHeadingsExist() throws IOException {
    List<Path> documents = documents();
    assertThat(documents).contains(ROOT.resolve("README.md"));
    assertThat(documents.stream().flatMap(LinksTest::brokenLinks)).isEmpty();
  }

  private static List<Path> documents() throws IOException {
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
        Stream<Path> examples = Files.list(ROOT.resolve("examples"));
        Stream<Path> verbs = Files.list(ROOT.resolve("verbs"))) {
      return Stream.of(top, docs, examples, verbs)
          .flatMap(files -> files)
          .filter(file -> file.toString().endsWith(".md"))
          .toList();
    }
  }

  private static Stream<String> brokenLinks(Path document) {
    return LINK.matcher(text(document))
        .results()
        .filter(link -> !link.group(1).matches("\\w+:.*")) // https: and the like
        .filter(link -> !leadsSomewhere(document, link))
        .map(link -> ROOT.relativize(document) + ": " + link.group());
  }

  private static boolean leadsSomewhere(Path document, MatchResult link) {
    Path target =
        link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1)).normalize();
    return Files.exists(target)
        && (link.group(2) == null || headings(target).contains(link.group(2)));
  }

  private static Set<String> headings(Path document) {
    return HEADING
        .matcher(text(document))
        .results()
        .map(heading -> anchor(heading.group(1)))
        .collect(Collectors.toSet());
  }

  /** The anchor that GitHub gives a heading. */
  private static String anchor(String heading) {
    return heading
        .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
        .strip()
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\w\\- ]", "")
        .replace(' ', '-');
  }

  /** The text without blocks of code. */
  private static String text(Path document) {
    try {
      return Files.readString(document).replaceAll("(?s)```.*?```", "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
