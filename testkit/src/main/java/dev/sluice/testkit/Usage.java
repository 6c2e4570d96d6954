// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;

/**
 * Checks values of options before a command does anything, and reports a mistake in one line. The
 * option's label defines the values: {@code N} is a whole number from 1, {@code a|b} is one of
 * these words. The commands under bin check the same before they build, by the labels in bin/help.
 * {@link StandardOutput#run} applies it to each command, on the main thread.
 */
public final class Usage {
  private static final String POSITIVE = "N";

  private Usage() {}

  /** Returns the command with these checks. */
  public static CommandLine of(CommandLine command) {
    return command
        .setParameterExceptionHandler(Usage::misused)
        .setExecutionStrategy(
            parsed -> {
              for (ParseResult each = parsed; each != null; each = each.subcommand()) {
                check(each);
              }
              return new RunLast().execute(parsed);
            });
  }

  private static void check(ParseResult parsed) {
    for (OptionSpec option : parsed.matchedOptionsSet()) {
      for (String value : option.stringValues()) {
        String wanted = wanted(option.paramLabel(), value);
        if (wanted != null) {
          throw new ParameterException(
              parsed.commandSpec().commandLine(),
              "%s is %s, but must be %s".formatted(option.longestName(), value, wanted));
        }
      }
    }
  }

  /** Returns the allowed values; null if the value is one of them. */
  private static String wanted(String label, String value) {
    if (label.equals(POSITIVE) && !value.matches("0*[1-9][0-9]*")) {
      return "a whole number from 1";
    }
    if (label.contains("|") && !Arrays.asList(label.split("\\|")).contains(value)) {
      return "one of " + label.replace("|", ", ");
    }
    return null;
  }

  private static int misused(ParameterException misuse, String[] arguments) {
    CommandLine command = misuse.getCommandLine();
    command
        .getErr()
        .printf(
            "bin/%s: %s; see --help%n",
            command.getCommandSpec().qualifiedName(), misuse.getMessage().replace('\n', ' '));
    return CommandLine.ExitCode.USAGE;
  }

  /** The option by which commands choose a Spark version; bin/lib.sh reads it before they start. */
  public static final class SparkOption {
    public static final String NAME = "--spark";
    public static final String LABEL = "4.0|4.1|4.2";
    public static final String DESCRIPTION = "Spark version of driver and executors (default: 4.2)";

    private SparkOption() {}

    /** Returns the option for a command that does not annotate all its options. */
    public static OptionSpec spec() {
      return OptionSpec.builder(NAME)
          .type(String.class)
          .paramLabel(LABEL)
          .description(DESCRIPTION)
          .build();
    }
  }
}
