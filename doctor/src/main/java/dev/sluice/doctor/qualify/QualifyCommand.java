// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Json;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code doctor qualify}: prints which stages of an application would gain by Sluice, by its event
 * log. It looks at no node, so any machine with Spark's jars will do. {@code CommandLine} calls it
 * once, on the main thread.
 */
public final class QualifyCommand {
  static final String HELP =
      """
      java -jar <this jar> doctor qualify EVENTLOG [option...]
        EVENTLOG  event log of an application of Spark: a local file, or a folder eventlog_v2_*;
                  plain, or compressed by zstd, lz4, snappy or lzf
        --json    print one object, with an array of stages
      It takes jackson-core and the libraries of codecs from SPARK_HOME/jars.
      Exit status: 0 if the log is complete, 1 if parts are missing, 2 if it cannot be read or with
      wrong options. It does not depend on the answer.
      """;

  private static final String JACKSON = "jackson-core";

  private QualifyCommand() {}

  /**
   * Prints the answer, or an error.
   *
   * @param arguments the path and options
   * @return the exit status
   */
  public static int run(List<String> arguments, PrintStream out, PrintStream err) {
    if (arguments.contains("--help") || arguments.contains("-h")) {
      out.print(HELP);
      return 0;
    }
    boolean json = arguments.contains("--json");
    List<String> others = arguments.stream().filter(option -> !option.equals("--json")).toList();
    try {
      return print(path(others), json, out);
    } catch (IllegalArgumentException e) {
      err.print(e.getMessage() + "\n" + HELP);
    } catch (IOException e) {
      err.println(Finding.reason(e));
    } catch (LinkageError e) { // such as a native library in a folder that is mounted noexec
      err.println("a library of Spark cannot be used: " + Finding.reason(e));
    }
    return Finding.Level.FAIL.ordinal();
  }

  /** The path may be a URI of a file, as in spark.eventLog.dir. */
  private static Path path(List<String> arguments) {
    for (String argument : arguments) {
      if (argument.startsWith("-")) {
        throw new IllegalArgumentException("there is no option " + argument);
      }
    }
    if (arguments.size() != 1) {
      throw new IllegalArgumentException(
          arguments.isEmpty() ? "EVENTLOG is missing" : "there is more than one EVENTLOG");
    }
    String path = arguments.getFirst();
    if (path.matches("[a-z][a-z0-9]+://.*") && !path.startsWith("file:")) {
      throw new IllegalArgumentException(
          path + " is not a local path: copy the log first, such as by hdfs dfs -get");
    }
    return Path.of(path.replaceFirst("^file:(//)?(?=/)", ""));
  }

  private static EventReader reader(Application application) throws IOException {
    try {
      return new EventReader(application);
    } catch (LinkageError e) {
      throw new IOException(Codec.missing(JACKSON, ""), e);
    }
  }

  private static int print(Path path, boolean json, PrintStream out) throws IOException {
    EventLog log = EventLog.of(path);
    Application application = new Application();
    EventReader reader = reader(application);
    List<String> gaps = new ArrayList<>(log.gaps());
    for (Path file : log.files()) {
      reader.read(file).ifPresent(gaps::add);
    }
    if (reader.events() == 0) {
      throw new IOException(
          path + " has no event of Spark" + (gaps.isEmpty() ? "" : ": " + gaps.getLast()));
    }
    if (reader.malformed() > 0) {
      gaps.add(
          "%d lines that are cut, or are no events; the first is line %d"
              .formatted(reader.malformed(), reader.firstMalformed()));
    }
    if (!application.hasEnded()) {
      gaps.add(
          log.inProgress()
              ? "the application has not ended in this log"
              : "the log ends before the application");
    }
    Map<String, Object> reading = new LinkedHashMap<>();
    reading.put("log", path.toString());
    reading.put("events", reader.events());
    reading.put("malformed_lines", reader.malformed());
    QualifyText text = new QualifyText(application, reading, gaps);
    out.print(json ? Json.of(text.fields()) + "\n" : text.text());
    return gaps.isEmpty() ? 0 : Finding.Level.WARN.ordinal();
  }
}
