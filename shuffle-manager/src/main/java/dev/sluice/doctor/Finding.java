package dev.sluice.doctor;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.net.UnknownHostException;
import java.nio.file.FileSystemException;
import java.util.Collection;
import java.util.concurrent.ExecutionException;

/**
 * One line of what the doctor says.
 *
 * @param name what was looked at, in a word or two
 * @param level how it stands
 * @param said what was found
 * @param set what to set or to do; empty where nothing
 */
public record Finding(String name, Level level, String said, String set) implements Serializable {
  /** How something stands, from good to bad. */
  public enum Level {
    OK,
    /** Sluice works, but not as well as it could, or not by RDMA. */
    WARN,
    /** Something that is there, or was asked for, does not work. */
    FAIL
  }

  public static Finding ok(String name, String said) {
    return new Finding(name, Level.OK, said, "");
  }

  public static Finding warn(String name, String said, String set) {
    return new Finding(name, Level.WARN, said, set);
  }

  public static Finding fail(String name, String said, String set) {
    return new Finding(name, Level.FAIL, said, set);
  }

  /** What an exception says, in one line; also its type where that alone says nothing. */
  public static String reason(Throwable cause) {
    if (cause instanceof ExecutionException || cause instanceof InvocationTargetException) {
      return reason(cause.getCause());
    }
    String message = cause.getMessage() == null ? "" : cause.getMessage().strip();
    boolean isNameAlone =
        cause instanceof FileSystemException || cause instanceof UnknownHostException;
    String text = message.isEmpty() || isNameAlone ? cause.toString() : message;
    return text.lines().findFirst().orElse("");
  }

  /** The exit status of a process that found these: 0, 1 with a warning, 2 with a failure. */
  public static int exitStatus(Collection<Finding> findings) {
    return findings.stream().mapToInt(finding -> finding.level().ordinal()).max().orElse(0);
  }
}
