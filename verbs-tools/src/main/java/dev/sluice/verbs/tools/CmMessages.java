// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import picocli.CommandLine.Option;

/**
 * Options of commands that exchange datagrams ({@link MckeyCommand}, {@link UdaddyCommand}): their
 * number and size. The command calls {@link #check} first.
 */
final class CmMessages {
  @Option(
      names = {"-C", "--count"},
      paramLabel = "MESSAGES",
      description = "Messages, the same on both sides (default: ${DEFAULT-VALUE})")
  private int count = 10;

  @Option(
      names = {"-S", "--size"},
      paramLabel = "BYTES",
      description = "Bytes of a message, the same on both sides (default: ${DEFAULT-VALUE})")
  private int size = 100;

  int count() {
    return count;
  }

  int size() {
    return size;
  }

  void check(ToolCommand command) {
    command.require(count >= 1 && size >= 1, "--count and --size must be positive");
  }
}
