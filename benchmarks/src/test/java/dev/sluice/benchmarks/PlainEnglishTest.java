// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/**
 * Counts words of headless clauses, and sentences that begin with such a clause, in comments of
 * main code and in documents. The counts are per 1,000 words. plain-english.csv has the limits,
 * which only fall.
 */
class PlainEnglishTest {
  private static final Set<String> CLAUSE_WORDS =
      Set.of("what", "who", "whoever", "nobody", "beside");

  private static final Set<String> HEADLESS_OPENINGS =
      Set.of("What", "Who", "Whoever", "Whether", "That", "Of", "So", "Such", "Those", "Nobody");

  /** Room below a limit before it has to be lowered. */
  private static final double SLACK = 0.5;

  private static final Pattern COMMENT_OR_LITERAL =
      Pattern.compile(
          "\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'"
              + "|/\\*(?<block>.*?)\\*/|(?<lines>//[^\n]*(?:\n\\s*//[^\n]*)*)",
          Pattern.DOTALL);
  private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.:;!?])\\s+|\n\\s*\n");
  private static final Pattern WORD = Pattern.compile("[A-Za-z][A-Za-z'-]*");

  /**
   * Counts of a text.
   *
   * @param words all words
   * @param clauses clause words among them
   * @param openings sentences with a headless opening
   */
  record Count(long words, long clauses, long openings) {
    static final Count NONE = new Count(0, 0, 0);

    static Count of(String text) {
      return SENTENCE_END.splitAsStream(text).map(Count::ofSentence).reduce(NONE, Count::plus);
    }

    private static Count ofSentence(String sentence) {
      List<String> words = WORD.matcher(sentence).results().map(word -> word.group()).toList();
      boolean headless =
          !words.isEmpty()
              && HEADLESS_OPENINGS.contains(words.getFirst())
              && !sentence.strip().endsWith("?");
      return new Count(
          words.size(),
          words.stream().filter(w -> CLAUSE_WORDS.contains(w.toLowerCase(Locale.ROOT))).count(),
          headless ? 1 : 0);
    }

    Count plus(Count other) {
      return new Count(words + other.words, clauses + other.clauses, openings + other.openings);
    }

    double perThousand(long part) {
      return words == 0 ? 0 : 1000.0 * part / words;
    }
  }

  /**
   * @param clauseWords limit of clause words in 1,000
   * @param headlessOpenings limit of headless openings in 1,000 words
   */
  @ParameterizedTest
  @CsvFileSource(resources = "plain-english.csv", numLinesToSkip = 1)
  void headlessClausesBecomeFewer(String place, double clauseWords, double headlessOpenings)
      throws IOException {
    Count count = count(Path.of("..", place));
    double clauses = count.perThousand(count.clauses());
    double openings = count.perThousand(count.openings());
    String found = "%s has %.1f,%.1f".formatted(place, clauses, openings);
    assertThat(clauses <= clauseWords && openings <= headlessOpenings)
        .as("%s: write plain sentences", found)
        .isTrue();
    assertThat(clauses > clauseWords - SLACK && openings > headlessOpenings - SLACK)
        .as("%s: lower the limits in plain-english.csv", found)
        .isTrue();
  }

  @Test
  void commentsAreCountedAndLiteralsAreNot() {
    String source =
        """
        /** What is read. The {@link What} of a task, <b>who</b> waits. */
        class A { // Of the heap: so many bytes
          // nobody knows
          String s = "what /* who */"; char c = '"'; /* Is that so? */
        }
        """;
    assertThat(Count.of(comments(source))).isEqualTo(new Count(21, 3, 2));
  }

  private static Count count(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      Count sum = Count.NONE;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".java")) {
          sum = sum.plus(Count.of(comments(Files.readString(file))));
        } else if (name.endsWith(".md")) {
          sum = sum.plus(Count.of(prose(withoutCode(Files.readString(file)))));
        }
      }
      return sum;
    }
  }

  /** The comments of a Java source, one paragraph each. */
  private static String comments(String source) {
    StringBuilder comments = new StringBuilder();
    Matcher matcher = COMMENT_OR_LITERAL.matcher(source);
    while (matcher.find()) {
      if (matcher.group("block") != null) {
        comments.append(matcher.group("block").replaceAll("\n\\s*\\*", "\n")).append("\n\n");
      } else if (matcher.group("lines") != null) {
        comments.append(matcher.group("lines").replaceAll("\\s*//", " ")).append("\n\n");
      }
    }
    return prose(comments.toString());
  }

  /** Removes blocks of code from a document. */
  static String withoutCode(String document) {
    return document.replaceAll("(?s)```.*?```", " ");
  }

  /** Removes tags and names of code. */
  static String prose(String text) {
    return text.replaceAll("\\{@\\w+\\s+[^}]*}", " X ")
        .replaceAll("@(param|throws)\\s+\\S+|@return", " . ")
        .replaceAll("<[^>]+>", " . ")
        .replaceAll("`[^`]*`", " X ");
  }
}
