// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor;

import static java.util.Objects.requireNonNull;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.net.UnknownHostException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/**
 * One line of the doctor's answer. Checks make it, on any thread and any executor; immutable. Equal
 * findings of several executors become one row, so a message must not name values that differ by
 * chance.
 *
 * @param name subject, in a word or two
 * @param level result
 * @param said message for people
 * @param set remedy, such as a setting; empty if none is needed
 * @param values the same facts for programs: strings, numbers and booleans by name; the name ends
 *     with the unit
 * @param cause earlier findings that would explain this one
 * @param consequences effects of this finding that have no lines of their own
 * @param lines lines of files that mend it, for {@code --fix}
 */
public record Finding(
    String name,
    Level level,
    String said,
    String set,
    Map<String, Object> values,
    Cause cause,
    List<String> consequences,
    List<FixLine> lines)
    implements Serializable {
  /** Results, from good to bad. */
  public enum Level {
    OK,
    /** Sluice works, but not as well as it could, or not by RDMA. */
    WARN,
    /** Something that is there, or was asked for, does not work. */
    FAIL
  }

  /**
   * Explanation of a finding by others.
   *
   * @param names names of findings; any of them that is not ok explains the finding
   * @param effect the explained finding as an effect of that finding, in words
   */
  public record Cause(List<String> names, String effect) implements Serializable {
    private static final Cause NONE = new Cause(List.of(), "");
  }

  public Finding(String name, Level level, String said, String set) {
    this(name, level, said, set, Map.of(), Cause.NONE, List.of(), List.of());
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

  /** Returns this finding with one more value. */
  public Finding with(String field, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(values);
    more.put(field, value);
    return new Finding(
        name, level, said, set, Collections.unmodifiableMap(more), cause, consequences, lines);
  }

  /** Returns this finding with a cause. It has no line of its own if a named finding is not ok. */
  public Finding causedBy(List<String> names, String effect) {
    return new Finding(
        name, level, said, set, values, new Cause(names, effect), consequences, lines);
  }

  /**
   * Returns this finding with a line of a file that mends it. A line that would change the
   * protection of an application is left out: its operator decides.
   */
  public Finding mendedBy(FixLine line) {
    if (line.isProtection()) {
      return this;
    }
    List<FixLine> more = new ArrayList<>(lines);
    more.add(line);
    return new Finding(name, level, said, set, values, cause, consequences, List.copyOf(more));
  }

  /** Returns true if this finding is a consequence of another one. */
  boolean follows(Finding other) {
    return level != Level.OK && other.level != Level.OK && cause.names.contains(other.name);
  }

  Finding followedBy(Finding consequence) {
    List<String> more = new ArrayList<>(consequences);
    more.add(consequence.cause.effect);
    Level worst = consequence.level.compareTo(level) > 0 ? consequence.level : level;
    return new Finding(name, worst, said, set, values, cause, List.copyOf(more), lines);
  }

  /** Adds a finding to others: as a line, or as a consequence of the first that explains it. */
  public void addTo(List<Finding> others) {
    for (int i = 0; i < others.size(); i++) {
      if (follows(others.get(i))) {
        others.set(i, others.get(i).followedBy(this));
        return;
      }
    }
    others.add(this);
  }

  /** Returns an exception's message in one line, with its type if the message says too little. */
  public static String reason(Throwable cause) {
    if (cause instanceof ExecutionException || cause instanceof InvocationTargetException) {
      return reason(requireNonNull(cause.getCause()));
    }
    String message = cause.getMessage() == null ? "" : cause.getMessage().strip();
    boolean isNameAlone =
        cause instanceof FileSystemException || cause instanceof UnknownHostException;
    String text = message.isEmpty() || isNameAlone ? cause.toString() : message;
    return text.lines().findFirst().orElse("");
  }

  /** Returns the exit status for these findings: 0, 1 with a warning, 2 with a failure. */
  public static int exitStatus(Collection<Finding> findings) {
    return findings.stream().mapToInt(finding -> finding.level().ordinal()).max().orElse(0);
  }
}
