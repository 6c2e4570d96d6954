// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Block between fences in the documents of this repository. Tests of the documents read it; their
 * working directory is that of their module.
 *
 * @param document file that contains the block
 * @param line number of the line with the first fence
 * @param mark line before that fence; empty if there is none
 * @param lines lines between the fences
 */
public record DocumentBlock(Path document, int line, String mark, List<String> lines) {
  /** Root of the repository, from the folder of a module. */
  public static final Path ROOT = Path.of("..");

  /** Command line in a block. */
  public record Command(DocumentBlock block, String line) {
    /** Returns the words after the program, without a comment at the end and without dots. */
    public String[] arguments() {
      String[] words = words(line);
      return Arrays.copyOfRange(words, 1, words.length);
    }
  }

  /** Returns the blocks of README.md, of the examples' page and of all files below docs. */
  public static List<DocumentBlock> all() throws IOException {
    List<Path> documents;
    try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
      documents =
          Stream.concat(
                  Stream.of(ROOT.resolve("README.md"), ROOT.resolve("examples/README.md")), files)
              .filter(file -> file.toString().endsWith(".md"))
              .sorted()
              .toList();
    }
    List<DocumentBlock> blocks = new ArrayList<>();
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
          blocks.add(new DocumentBlock(document, opened + 1, before, lines.subList(opened + 1, i)));
          opened = -1;
        }
      }
    }
    return blocks;
  }

  /** Returns all command lines that begin with a program, such as {@code bin/chaos}. */
  public static List<Command> commands(String program) throws IOException {
    List<Command> commands = new ArrayList<>();
    for (DocumentBlock block : all()) {
      block.lines().stream()
          .filter(line -> words(line)[0].equals(program))
          .forEach(line -> commands.add(new Command(block, line)));
    }
    return commands;
  }

  private static String[] words(String line) {
    return line.replaceAll(" +#.*", "").replace("...", "").trim().split(" +");
  }

  @Override
  public String toString() {
    return document.getFileName() + ":" + line;
  }
}
