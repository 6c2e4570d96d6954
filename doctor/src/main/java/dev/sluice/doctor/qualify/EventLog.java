// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.qualify;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Files of an event log in their order: one file, or those of a folder {@code eventlog_v2_*} that
 * Spark rolls. {@link QualifyCommand} finds them on the main thread. Immutable.
 *
 * @param inProgress true if Spark has not renamed the log at the end of the application
 * @param gaps sentences about files whose events are missing; may be empty
 */
record EventLog(List<Path> files, boolean inProgress, List<String> gaps) {
  private static final String IN_PROGRESS = ".inprogress";

  /** Number of a rolled file, and the mark of one that Spark's history server has compacted. */
  private static final Pattern ROLLED = Pattern.compile("events_(\\d+)_.*?(\\.compact)?");

  private record Rolled(Path file, long index, boolean isCompact) {
    static Optional<Rolled> of(Path file) {
      Matcher name = ROLLED.matcher(file.getFileName().toString());
      return name.matches()
          ? Optional.of(new Rolled(file, Long.parseLong(name.group(1)), name.group(2) != null))
          : Optional.empty();
    }
  }

  /**
   * Finds the files.
   *
   * @param path a file, or a folder of rolled files
   * @throws IOException if there is none; the message is for the user
   */
  static EventLog of(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      return ofFolder(path);
    }
    if (!Files.isReadable(path)) {
      throw new IOException(
          path + (Files.exists(path) ? " may not be read by this user" : " does not exist"));
    }
    return new EventLog(List.of(path), path.toString().endsWith(IN_PROGRESS), List.of());
  }

  private static EventLog ofFolder(Path folder) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.list(folder)) {
      all = files.toList();
    }
    List<Rolled> rolled =
        all.stream()
            .map(Rolled::of)
            .flatMap(Optional::stream)
            .sorted(Comparator.comparingLong(Rolled::index).thenComparing(Rolled::isCompact))
            .toList();
    if (rolled.isEmpty()) {
      throw new IOException(
          folder + " is a folder without files events_*: name one event log, not a folder of logs");
    }
    List<Rolled> used = fromLastCompact(rolled);
    boolean inProgress = all.stream().anyMatch(file -> file.toString().endsWith(IN_PROGRESS));
    return new EventLog(used.stream().map(Rolled::file).toList(), inProgress, gaps(used));
  }

  /** A compacted file replaces all files with the same or a lower number. */
  private static List<Rolled> fromLastCompact(List<Rolled> rolled) {
    int from = 0;
    for (int i = 0; i < rolled.size(); i++) {
      from = rolled.get(i).isCompact() ? i : from;
    }
    return rolled.subList(from, rolled.size());
  }

  private static List<String> gaps(List<Rolled> used) {
    List<String> gaps = new ArrayList<>();
    Rolled first = used.getFirst();
    if (first.isCompact()) {
      gaps.add("Spark has compacted the log: tasks of finished jobs are missing");
    }
    long expected = first.isCompact() ? first.index() : 1;
    for (Rolled file : used) {
      if (file.index() > expected) {
        gaps.add(
            "%d files before %s are missing"
                .formatted(file.index() - expected, file.file().getFileName()));
      }
      expected = file.index() + 1;
    }
    return gaps;
  }
}
