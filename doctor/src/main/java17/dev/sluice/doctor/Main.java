// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.InvocationTargetException;
import java.util.List;

/**
 * Entry point of {@code java -jar}. Reads the doctor's options, and starts the doctor unless the
 * JVM is too old. Compiled for the oldest JVM that Spark runs on; all else is loaded by name. The
 * JVM calls it on the main thread, and wrong use ends the process with status 2.
 */
public final class Main {
  /** Word after doctor that asks for memory and limits. */
  public static final String SIZE = "size";

  /** Word after doctor that asks for the gain of an application. */
  public static final String QUALIFY = "qualify";

  private static final String DOCTOR = "dev.sluice.doctor.alone.AloneLoader";

  private Main() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 0 || !args[0].equals("doctor")) {
      System.err.println(
          "This jar is a shuffle manager for Spark. To check whether this node is ready for it:\n"
              + "  java -jar <this jar> doctor [--help]");
      System.exit(Finding.Level.FAIL.ordinal());
    }
    List<String> rest = List.of(args).subList(1, args.length);
    boolean isCommand = !rest.isEmpty() && List.of(SIZE, QUALIFY).contains(rest.get(0));
    if (!isCommand && isAnswered(rest)) {
      return;
    }
    String lack = Platform.lack(Runtime.version().feature());
    if (!lack.isEmpty()) {
      Table table = new Table();
      table.add(oldJava(lack));
      System.out.print(
          rest.contains("--json")
              ? table.json()
              : rest.contains("--fix") ? table.fix() : table.text());
      System.exit(table.exitStatus());
    }
    try {
      Class.forName(DOCTOR).getMethod("main", String[].class).invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      requireNonNull(e.getCause()).printStackTrace();
      System.exit(Finding.Level.FAIL.ordinal());
    }
  }

  /**
   * Returns true if the options ask for a text that needs no doctor, after it is printed. Wrong
   * ones end the process.
   */
  private static boolean isAnswered(List<String> arguments) {
    Options options;
    try {
      options = Options.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.print(e.getMessage() + "\n" + Options.HELP);
      System.exit(Finding.Level.FAIL.ordinal());
      return true;
    }
    if (options.help()) {
      System.out.print(Options.HELP);
    } else if (options.version()) {
      System.out.printf(
          "sluice %s, Java %s%n", Platform.version().orElse("unknown"), Runtime.version());
    }
    return options.help() || options.version();
  }

  /** Returns the only finding of a JVM that cannot run the rest. */
  public static Finding oldJava(String lack) {
    return Finding.fail(
            "java", lack, "set JAVA_HOME or spark.executorEnv.JAVA_HOME; no other check was made")
        .with("version", Runtime.version().toString());
  }
}
