// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;

/**
 * Runs a command, checks values of its options before it does anything, and reports a mistake in
 * one line. The option's label defines the values: {@code N} is a whole number from 1, {@code a|b}
 * is one of these words. The commands under bin check the same before they build, by the labels in
 * bin/help. Main methods call {@link #run}.
 */
public final class Usage {
  private static final String POSITIVE = "N";

  private Usage() {}

  /**
   * Runs a command with these checks, and ends this process with its status. A main method does
   * nothing else.
   *
   * @param command makes the command; called after standard output was claimed, since picocli drops
   *     the writer if System.out changes later
   */
  public static void run(Supplier<CommandLine> command, String... arguments) {
    PrintWriter out = new PrintWriter(AnsweringProcess.claimOutput(), true, StandardCharsets.UTF_8);
    int status = of(command.get()).setOut(out).execute(arguments);
    out.flush();
    System.exit(status);
  }

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
  private static @Nullable String wanted(String label, String value) {
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
            command.getCommandSpec().qualifiedName(),
            String.valueOf(misuse.getMessage()).replace('\n', ' '));
    return CommandLine.ExitCode.USAGE;
  }

  /**
   * Options of all commands. bin/lib.sh reads --spark and --java before they start. Picocli creates
   * it with its command; subcommands inherit it.
   */
  public static final class CommonOptions {
    @Option(
        names = {"-h", "--help"},
        usageHelp = true,
        scope = ScopeType.INHERIT,
        description = "Show this help and exit")
    @SuppressWarnings("UnusedVariable") // picocli reads it
    private boolean help;

    @Option(
        names = "--spark",
        paramLabel = "4.0|4.1|4.2",
        scope = ScopeType.INHERIT,
        description = "Spark version of driver and executors (default: 4.2)")
    private @Nullable String spark;

    @Option(
        names = "--java",
        paramLabel = "21|25|26|27",
        scope = ScopeType.INHERIT,
        description =
            "JDK of driver and executors, made by testbed/jdk (default: the one that builds"
                + " Sluice)")
    private @Nullable String java;

    /** Returns the versions that were given, as options for another command. */
    public List<String> versions() {
      List<String> versions = new ArrayList<>();
      if (spark != null) {
        versions.addAll(List.of("--spark", spark));
      }
      if (java != null) {
        versions.addAll(List.of("--java", java));
      }
      return versions;
    }
  }
}
