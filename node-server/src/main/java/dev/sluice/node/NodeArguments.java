// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parsed command line of the node daemon. {@link NodeMain} parses it and carries out its action,
 * both on the main thread; {@link NodeCheck} reads its options there. Immutable; owns nothing.
 * Values of settings are not validated yet: {@link #options} reads the file and does that.
 *
 * @param conf a file that all nodes may share; null for none
 * @param given this node's own settings, which replace the file's
 */
record NodeArguments(
    Action action, boolean isSupervised, @Nullable Path conf, Map<String, String> given) {
  /** The action of the command. */
  enum Action {
    RUN,
    CHECK,
    VERSION,
    HELP
  }

  /**
   * @throws IllegalArgumentException for an unknown option, or an argument that is not key=value
   */
  static NodeArguments parse(List<String> arguments) {
    Action action = Action.RUN;
    boolean isSupervised = false;
    Path conf = null;
    Map<String, String> given = new HashMap<>();
    for (Iterator<String> left = arguments.iterator(); left.hasNext(); ) {
      String argument = left.next();
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      switch (argument.startsWith("-") && !name.equals("--conf") ? argument : name) {
        case "-h", "--help" -> action = Action.HELP;
        case "--version" -> action = Action.VERSION;
        case "--check" -> action = Action.CHECK;
        case "--supervised" -> isSupervised = true;
        case "--conf" -> conf = file(equals < 0 ? next(left) : argument.substring(equals + 1));
        default -> {
          if (equals <= 0 || argument.startsWith("-")) {
            throw new IllegalArgumentException(
                argument + " is neither an option nor KEY=VALUE; see --help");
          }
          given.put(name, argument.substring(equals + 1));
        }
      }
    }
    return new NodeArguments(action, isSupervised, conf, Map.copyOf(given));
  }

  private static String next(Iterator<String> left) {
    if (!left.hasNext()) {
      throw new IllegalArgumentException("--conf needs a FILE; see --help");
    }
    return left.next();
  }

  private static Path file(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("--conf: " + e.getMessage(), e);
    }
  }

  /**
   * Settings of the file and of this node.
   *
   * @throws IllegalArgumentException if the file is missing or a setting is wrong
   */
  NodeOptions options() throws IOException {
    Map<String, String> values = new HashMap<>();
    if (conf != null) {
      if (!Files.isReadable(conf) || Files.isDirectory(conf)) {
        throw new IllegalArgumentException("--conf: %s is not a readable file".formatted(conf));
      }
      values.putAll(NodeOptions.read(conf));
    }
    values.putAll(given);
    return NodeOptions.of(values);
  }
}
