package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.JsonFile;
import dev.sluice.benchmarks.Shuffle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The results of rounds that have ended, kept in a file so that a run of hours can be stopped and
 * go on. Used by one thread.
 */
final class KeptResults {
  /** What has to be the same for results to be put together. */
  record Settings(List<Shuffle> shuffles, List<String> queries, int repetitions) {}

  /** The file. */
  private record Content(Settings settings, List<ProcessResult> processes) {}

  private final Path file;
  private final Settings settings;
  private final List<ProcessResult> processes;

  private KeptResults(Path file, Settings settings, List<ProcessResult> processes) {
    this.file = file;
    this.settings = settings;
    this.processes = processes;
  }

  /**
   * @param file null to keep nothing
   * @throws IOException also when the file has results of other settings
   */
  static KeptResults in(Path file, Settings settings) throws IOException {
    List<ProcessResult> processes = new ArrayList<>();
    if (file != null && Files.exists(file)) {
      Content content = JsonFile.read(file, Content.class);
      if (!content.settings().equals(settings)) {
        throw new IOException(
            "%s has results of %s, not of %s: delete it, or write to another file"
                .formatted(file, content.settings(), settings));
      }
      processes.addAll(content.processes());
    }
    return new KeptResults(file, settings, processes);
  }

  boolean has(int round) {
    return processes.stream().anyMatch(process -> process.round() == round);
  }

  /** All results of a round. */
  void add(List<ProcessResult> results) throws IOException {
    processes.addAll(results);
    if (file != null) {
      JsonFile.write(file, new Content(settings, processes));
    }
  }

  Settings settings() {
    return settings;
  }

  Rounds rounds() {
    return new Rounds(List.copyOf(processes));
  }
}
