package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.chaos.ChaosCommand;
import dev.sluice.benchmarks.terasort.TeraSortCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * Checks that every block of commands in the documents has a test that runs it, or a reason why
 * none does. The line before the block is {@code <!-- run by: NAME, NAME -->} or {@code <!-- not
 * run: reason -->}. A name is a test class, or a path in this repository.
 */
class DocumentedCommandsTest {
  private static final Path ROOT = Path.of("..");

  private static final Pattern COMMAND =
      Pattern.compile(
          "^(?:\\w+\\$ )?(?:bin/|testbed/|\\.ci/|spark-submit|java |mvn |docker |kubectl |hadoop"
              + " |apt-get |systemctl ).*");
  private static final Pattern MARK = Pattern.compile("<!-- (run by|not run): (.+) -->");

  /** A block between fences, with the line before it. */
  private record Block(Path document, int line, String mark, List<String> lines) {
    boolean hasCommands() {
      return lines.stream().anyMatch(text -> COMMAND.matcher(text).matches());
    }

    @Override
    public String toString() {
      return document.getFileName() + ":" + line;
    }
  }

  @Test
  void everyCommandIsRunByATestOrHasAReason() throws IOException {
    List<String> sources = sources();
    List<String> wrong = new ArrayList<>();
    for (Block block : blocks()) {
      Matcher mark = MARK.matcher(block.mark());
      if (!block.hasCommands()) {
        continue;
      }
      if (!mark.matches()) {
        wrong.add(block + " has commands and no mark");
      } else if (mark.group(1).equals("run by")) {
        for (String name : mark.group(2).split(", ")) {
          if (!sources.contains(name + ".java") && !Files.exists(ROOT.resolve(name))) {
            wrong.add(block + " names " + name + ", which is not there");
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void optionsInTheDocumentsAreThoseOfTheCommands() throws IOException {
    List<String> parsed = new ArrayList<>();
    for (Block block : blocks()) {
      for (String line : block.lines()) {
        String[] words = line.replaceAll(" +#.*", "").replace("...", "").trim().split(" +");
        CommandLine command =
            switch (words[0]) {
              case "bin/chaos" -> ChaosCommand.alone();
              case "bin/terasort" -> TeraSortCommand.alone();
              default -> null;
            };
        if (command != null) {
          String[] options = Arrays.copyOfRange(words, 1, words.length);
          assertThat(command.parseArgs(options).errors()).as("%s: %s", block, line).isEmpty();
          parsed.add(line);
        }
      }
    }
    assertThat(parsed).isNotEmpty();
  }

  /**
   * With a properties file, spark-submit ignores the cluster's defaults otherwise (SPARK-48392).
   */
  @Test
  void aPropertiesFileKeepsTheClustersDefaults() throws IOException {
    for (Block block : blocks()) {
      String all = String.join("\n", block.lines());
      if (all.contains("--properties-file")) {
        assertThat(all).as("%s", block).contains("--load-spark-defaults");
      }
    }
  }

  private static List<Block> blocks() throws IOException {
    List<Path> documents;
    try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
      documents =
          Stream.concat(Stream.of(ROOT.resolve("README.md")), files)
              .filter(file -> file.toString().endsWith(".md"))
              .sorted()
              .toList();
    }
    List<Block> blocks = new ArrayList<>();
    for (Path document : documents) {
      List<String> lines = Files.readAllLines(document);
      int opened = -1;
      for (int i = 0; i < lines.size(); i++) {
        if (!lines.get(i).strip().startsWith("```")) {
          continue;
        }
        if (opened < 0) {
          opened = i;
        } else {
          String before = opened == 0 ? "" : lines.get(opened - 1).strip();
          blocks.add(new Block(document, opened + 1, before, lines.subList(opened + 1, i)));
          opened = -1;
        }
      }
    }
    assertThat(blocks).isNotEmpty();
    return blocks;
  }

  /** Names of the Java files of all modules. */
  private static List<String> sources() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().contains("/src/test/java/"))
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".java"))
          .collect(Collectors.toList());
    }
  }
}
