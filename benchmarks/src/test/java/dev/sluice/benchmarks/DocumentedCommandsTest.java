// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.terasort.TeraSortCommand;
import dev.sluice.testkit.DocumentBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that every block of commands in the documents has a test that runs it, or a reason why
 * none does. The line before the block is {@code <!-- run by: NAME, NAME -->} or {@code <!-- not
 * run: reason -->}. A name is a test class, or a path in this repository.
 */
class DocumentedCommandsTest {
  private static final Pattern COMMAND =
      Pattern.compile(
          "^(?:\\w+\\$ )?(?:bin/|testbed/|\\.ci/|spark-submit|java |mvn |docker |kubectl |hadoop"
              + " |apt-get |systemctl ).*");
  private static final Pattern MARK = Pattern.compile("<!-- (run by|not run): (.+) -->");

  private static boolean hasCommands(DocumentBlock block) {
    return block.lines().stream().anyMatch(text -> COMMAND.matcher(text).matches());
  }

  @Test
  void everyCommandIsRunByATestOrHasAReason() throws IOException {
    List<String> sources = sources();
    List<String> wrong = new ArrayList<>();
    for (DocumentBlock block : blocks()) {
      Matcher mark = MARK.matcher(block.mark());
      if (!hasCommands(block)) {
        continue;
      }
      if (!mark.matches()) {
        wrong.add(block + " has commands and no mark");
      } else if (mark.group(1).equals("run by")) {
        for (String name : mark.group(2).split(", ")) {
          if (!sources.contains(name + ".java")
              && !Files.exists(DocumentBlock.ROOT.resolve(name))) {
            wrong.add(block + " names " + name + ", which is not there");
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void optionsInTheDocumentsAreThoseOfTheCommand() throws IOException {
    List<DocumentBlock.Command> commands = DocumentBlock.commands("bin/terasort");
    assertThat(commands).isNotEmpty();
    for (DocumentBlock.Command command : commands) {
      assertThat(TeraSortCommand.alone().parseArgs(command.arguments()).errors())
          .as("%s: %s", command.block(), command.line())
          .isEmpty();
    }
  }

  /**
   * With a properties file, spark-submit ignores the cluster's defaults otherwise (SPARK-48392).
   */
  @Test
  void aPropertiesFileKeepsTheClustersDefaults() throws IOException {
    for (DocumentBlock block : blocks()) {
      String all = String.join("\n", block.lines());
      if (all.contains("--properties-file")) {
        assertThat(all).as("%s", block).contains("--load-spark-defaults");
      }
    }
  }

  private static List<DocumentBlock> blocks() throws IOException {
    List<DocumentBlock> blocks = DocumentBlock.all();
    assertThat(blocks).isNotEmpty();
    return blocks;
  }

  /** Names of the Java files of all modules. */
  private static List<String> sources() throws IOException {
    try (Stream<Path> files = Files.walk(DocumentBlock.ROOT)) {
      return files
          .filter(file -> file.toString().contains("/src/test/java/"))
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".java"))
          .collect(Collectors.toList());
    }
  }
}
