// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ResultFile;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.Usage.JavaOption;
import dev.sluice.testkit.Usage.SparkOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/**
 * Runs the benchmarks one after the other, each as a command in its own process, and collects their
 * rows in one file. The file is the only state: a part is done if a row of it is there. A part that
 * fails or exceeds its time adds no row, and the next part runs.
 */
@Command(
    name = "all",
    description = {
      "Run all benchmarks and collect their rows in one file",
      "To continue a stopped run, start it again with the same file: parts whose rows are in the"
          + " file are skipped."
    })
public final class AllCommand implements Callable<Integer> {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd-HHmm");

  @Option(
      names = "--quick",
      description = "Run fewer parts, each with a goal, in fewer rounds: half an hour at most")
  private boolean quick;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "File of the rows (default: a new file in $SLUICE_DATA/results)")
  private @Nullable Path json;

  @ParentCommand private BenchCommand bench;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path data = Installation.fromEnvironment().data();
    Path file = json != null ? json.toAbsolutePath() : newFile(data);
    ResultFile results = new ResultFile(file);
    System.err.printf("results: %s; to continue after a stop, add --json %<s%n", file);
    List<Part> parts = quick ? Part.QUICK : Part.FULL;
    List<Part> left = new ArrayList<>(parts);
    List<Comparison> before = results.read();
    left.removeIf(part -> part.isIn(before));
    List<String> failed = new ArrayList<>();
    Path directory = Directories.ofRun("all");
    while (!left.isEmpty()) {
      System.err.println(progress(parts.size(), left));
      Part part = left.removeFirst();
      if (!run(part, directory.resolve(part.name() + ".json"), results)) {
        failed.add(part.name());
      }
    }
    Directories.delete(directory);
    failed.forEach(name -> System.err.println(name + " failed"));
    return failed.isEmpty() ? 0 : 1;
  }

  private Path newFile(Path data) throws IOException {
    String name =
        (quick ? "quick-" : "full-")
            + TIME.format(LocalDateTime.now(ZoneId.systemDefault()))
            + ".json";
    return Files.createDirectories(data.resolve("results")).resolve(name);
  }

  /** Returns a line about the parts that are done, the present part, and those after it. */
  static String progress(int total, List<Part> left) {
    Part now = left.getFirst();
    String then = left.stream().skip(1).map(Part::name).collect(Collectors.joining(", "));
    int minutes = left.stream().mapToInt(Part::minutes).sum();
    return "%d of %d parts done; now %s (about %d min)%s; about %d min left"
        .formatted(
            total - left.size(),
            total,
            now.name(),
            now.minutes(),
            then.isEmpty() ? "" : ", then " + then,
            minutes);
  }

  /** Returns true if the part succeeded; only then are its rows in the results. */
  private boolean run(Part part, Path rows, ResultFile results)
      throws IOException, InterruptedException {
    Path bin = Path.of(System.getenv("SLUICE_HOME"), "bin");
    List<String> command = new ArrayList<>(part.command(bin, rows));
    if (bench.spark() != null) {
      command.addAll(List.of(SparkOption.NAME, bench.spark()));
    }
    if (bench.java() != null) {
      command.addAll(List.of(JavaOption.NAME, bench.java()));
    }
    Process process = new ProcessBuilder(command).inheritIO().start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy, "part-destroyer"));
    try {
      if (!process.waitFor(part.timeoutMinutes(), TimeUnit.MINUTES)) {
        System.err.printf("%s did not end within %d min%n", part.name(), part.timeoutMinutes());
        return false;
      }
    } finally {
      process.destroy();
    }
    List<Comparison> measured = new ResultFile(rows).read();
    if (process.exitValue() != 0 || !part.isIn(measured)) {
      return false;
    }
    results.add(measured);
    return true;
  }
}
