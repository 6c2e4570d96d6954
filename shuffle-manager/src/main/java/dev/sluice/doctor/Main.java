package dev.sluice.doctor;

import dev.sluice.spark.version.Platform;
import java.lang.reflect.InvocationTargetException;

/**
 * What {@code java -jar} starts: the doctor, on a JVM that it may have to say is too old. Compiled
 * for the oldest JVM that Spark runs on; all else is loaded by name.
 */
public final class Main {
  private static final String DOCTOR = "dev.sluice.doctor.alone.AloneLoader";

  private Main() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 0 || !args[0].equals("doctor")) {
      System.err.println(
          "This jar is a shuffle manager for Spark. To see whether this node is ready for it:\n"
              + "  java -jar <this jar> doctor [--help]");
      System.exit(Finding.Level.FAIL.ordinal());
    }
    String lack = Platform.lack(Runtime.version().feature());
    if (!lack.isEmpty()) {
      System.out.print(tooOld(lack).text());
      System.exit(tooOld(lack).exitStatus());
    }
    try {
      Class.forName(DOCTOR).getMethod("main", String[].class).invoke(null, (Object) args);
    } catch (InvocationTargetException e) {
      e.getCause().printStackTrace();
      System.exit(Finding.Level.FAIL.ordinal());
    }
  }

  private static Table tooOld(String lack) {
    Table table = new Table();
    table.add(oldJava(lack));
    return table;
  }

  /** The one finding of a JVM that can run nothing else of it. */
  public static Finding oldJava(String lack) {
    return Finding.fail(
        "java", lack, "JAVA_HOME, or spark.executorEnv.JAVA_HOME; nothing else was looked at");
  }
}
