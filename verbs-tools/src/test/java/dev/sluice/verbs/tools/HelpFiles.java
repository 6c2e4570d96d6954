// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/**
 * Checks the files in bin/help. The commands in bin use them to show help and to refuse wrong
 * options before they build anything. Each file holds a program's own help text. A stale file is
 * rewritten and fails its test once.
 */
public final class HelpFiles {
  private static final Path DIRECTORY =
      Path.of(System.getProperty("sluice.basedir", "."), "..", "bin", "help");

  private HelpFiles() {}

  /** Checks a file for the command and for each of its subcommands: bench, bench-all and so on. */
  public static void check(CommandLine command) throws IOException {
    String name = command.getCommandName();
    command.setCommandName("bin/" + name);
    Map<String, String> texts = new TreeMap<>();
    texts.put(name, text(command));
    for (CommandLine each : command.getSubcommands().values()) {
      texts.put(name + "-" + each.getCommandName(), text(each));
    }
    check(texts);
  }

  private static String text(CommandLine command) {
    return command.setUsageHelpAutoWidth(false).getUsageMessage(Ansi.OFF);
  }

  /** Checks that a file has this text. */
  public static void check(String text, String file) throws IOException {
    check(Map.of(file, text));
  }

  private static void check(Map<String, String> texts) throws IOException {
    List<Path> stale = new ArrayList<>();
    for (Map.Entry<String, String> text : texts.entrySet()) {
      Path path = DIRECTORY.resolve(text.getKey() + ".txt");
      if (!Files.exists(path) || !Files.readString(path).equals(text.getValue())) {
        stale.add(path);
        Files.createDirectories(DIRECTORY);
        Files.writeString(path, text.getValue());
      }
    }
    assertThat(stale).as("files that were stale and have been written anew").isEmpty();
  }
}
