// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.BenchmarkRun;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Goal.RowPattern;
import dev.sluice.benchmarks.ResultFile;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Installation;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Progress;
import dev.sluice.testkit.Resource;
import dev.sluice.testkit.RunDirectory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/bench all}: runs the benchmarks one after the other, each as a command in
 * its own process, and collects their rows in one file. All of it runs on the main thread; on a
 * terminal, two threads print a part's lines above the bar. The file is the only state: a part is
 * done if the file has any of its rows. A part that fails or exceeds its time adds no row, and the
 * next part runs.
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

  /** Time for the processes of a part to end by themselves, and to delete their files. */
  private static final long END_MS = 60_000;

  /** Time for the last lines of a part that has ended. */
  private static final Duration LAST_LINES = Duration.ofSeconds(1);

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

  @Spec private CommandSpec spec;

  private final Progress bar = Progress.onStandardError();

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path data = Installation.fromEnvironment().data();
    Path file = json != null ? json.toAbsolutePath() : newFile(data);
    ResultFile results = new ResultFile(file);
    System.err.printf("results: %s; to continue after a stop, add --json %<s%n", file);
    List<Part> parts = quick ? Part.QUICK : Part.FULL;
    List<Part> left = new ArrayList<>(parts);
    List<Comparison> before = results.read();
    left.removeIf(part -> part.isIn(before, BenchmarkRun.variant()));
    List<String> failed = new ArrayList<>();
    bar.expect(left.stream().map(part -> Duration.ofMinutes(part.minutes())).toList());
    try (RunDirectory directory = RunDirectory.of("all", END_MS)) {
      while (!left.isEmpty()) {
        bar.line(progress(parts.size(), left));
        Part part = left.removeFirst();
        bar.beginQuietly(part.name());
        if (!run(part, directory.path().resolve(part.name() + ".json"), results)) {
          failed.add(part.name());
        }
      }
      directory.delete();
    }
    bar.clear();
    failed.forEach(name -> System.err.println(name + " failed"));
    return failed.isEmpty() ? 0 : 1;
  }

  private Path newFile(Path data) throws IOException {
    String time = TIME.format(LocalDateTime.now(ZoneId.systemDefault()));
    String name = "%s-%s.json".formatted(quick ? "quick" : "full", time);
    return Files.createDirectories(data.resolve("results")).resolve(name);
  }

  /**
   * Returns a line about the number of parts that succeeded or failed, the present part, and those
   * after it.
   */
  static String progress(int total, List<Part> left) {
    Part now = left.getFirst();
    String then = left.stream().skip(1).map(Part::name).collect(Collectors.joining(", "));
    int minutes = left.stream().mapToInt(Part::minutes).sum();
    return "%d of %d parts over; now %s (about %d min)%s; about %d min left"
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
    command.addAll(bench.versions());
    Process process = start(command);
    List<Thread> printers = bar.hasBar() ? printers(process) : List.of();
    try {
      if (!process.waitFor(part.timeoutMinutes(), TimeUnit.MINUTES)) {
        bar.line("%s did not end within %d min".formatted(part.name(), part.timeoutMinutes()));
        return false;
      }
    } finally {
      end(process);
      for (Thread printer : printers) {
        printer.join(LAST_LINES);
      }
    }
    if (process.exitValue() != 0) {
      AnsweringProcess.awaitOwnEnd();
    }
    List<Comparison> measured = new ResultFile(rows).read();
    if (process.exitValue() != 0 || !part.isIn(measured, BenchmarkRun.variant())) {
      return false;
    }
    results.add(measured);
    return true;
  }

  /** Starts a part. It writes to the terminal itself only if there is no bar. */
  private Process start(List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    if (bar.hasBar()) {
      builder.redirectOutput(Redirect.PIPE).redirectError(Redirect.PIPE);
    }
    Process process = builder.start();
    ProcessHandle part = process.toHandle(); // It leaves the pipes open for the part's last lines.
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(part::destroy, "part-destroyer"));
    } catch (IllegalStateException e) { // Ctrl-C came first, and its hooks miss this part.
      part.destroyForcibly();
      throw new IOException("This command is ending", e);
    }
    return process;
  }

  /** Starts the threads that print a part's lines; they end with its output. */
  private List<Thread> printers(Process part) {
    return List.of(
        printer(part.inputReader(UTF_8), line -> spec.commandLine().getOut().println(line)),
        printer(part.errorReader(UTF_8), System.err::println));
  }

  private Thread printer(BufferedReader lines, Consumer<String> output) {
    return Thread.startVirtualThread(
        () -> {
          try {
            lines.lines().forEach(line -> bar.above(() -> output.accept(line)));
          } catch (UncheckedIOException e) {
            bar.line("The output of a part cannot be read: " + e.getMessage());
          }
        });
  }

  /** Ends a part and the processes that it started. They would take CPU time from the next part. */
  static void end(Process part) throws InterruptedException {
    List<ProcessHandle> all =
        Stream.concat(Stream.of(part.toHandle()), part.descendants()).toList();
    part.toHandle().destroy();
    // The part itself is asked, too: it notes its end a little after its handle.
    if (!Poll.until(
        END_MS, () -> !part.isAlive() && all.stream().noneMatch(ProcessHandle::isAlive))) {
      all.forEach(ProcessHandle::destroyForcibly);
    }
  }

  /**
   * A part of {@code bin/bench all}: a command of bin/bench with its arguments. {@link AllCommand}
   * runs the parts of a list in the order of {@code parts.txt}, which has a line for each: list,
   * name, rows, minutes, command.
   *
   * @param names names of rows that it writes; one of them shows that the part is done
   * @param minutes minutes that it takes on two cores
   * @param words command of bin/bench with its arguments; "with-verbs" before it if it needs an
   *     RDMA device, which bin/with-verbs provides
   */
  record Part(String name, RowPattern names, int minutes, List<String> words) {
    /** A part is ended after its minutes times this factor, which leaves room for slow machines. */
    private static final int PATIENCE = 6;

    private static final String STAGED =
        "--label staged --conf spark.shuffle.rdma.registration.maxBytes=0";

    /** Parts with a goal that take less than half an hour: no TeraSort of 10 GB, no TPC-DS. */
    static final List<Part> QUICK = read("quick");

    static final List<Part> FULL = read("full");

    private static List<Part> read(String list) {
      return Resource.text(Part.class, "parts.txt")
          .lines()
          .map(line -> line.replace("STAGED", STAGED).split(" \\| "))
          .filter(cells -> cells[0].equals(list))
          .map(Part::of)
          .toList();
    }

    private static Part of(String[] cells) {
      return new Part(
          cells[1],
          new RowPattern(cells[2]),
          Integer.parseInt(cells[3]),
          List.of(cells[4].split(" ")));
    }

    /**
     * Returns true if the part's rows are there.
     *
     * @param variant the end of the names of its rows ({@link BenchmarkRun#variant})
     */
    boolean isIn(List<Comparison> rows, String variant) {
      return rows.stream()
          .map(Comparison::name)
          .filter(name -> name.endsWith(variant))
          .anyMatch(name -> names.isOne(name.substring(0, name.length() - variant.length())));
    }

    int timeoutMinutes() {
      return PATIENCE * minutes;
    }

    /**
     * @param bin directory of bin/bench
     * @param rows the file to write
     */
    List<String> command(Path bin, Path rows) {
      List<String> command = new ArrayList<>();
      boolean onVerbs = words.getFirst().equals("with-verbs");
      if (onVerbs) {
        command.add(bin.resolve("with-verbs").toString());
        command.addAll(List.of("--devices", "1", "--timeout", "" + 60 * timeoutMinutes()));
        command.addAll(List.of("--out", requireNonNull(rows.getParent()).toString()));
      }
      command.add(bin.resolve("bench").toString());
      command.addAll(words.subList(onVerbs ? 1 : 0, words.size()));
      command.addAll(List.of("--json", rows.toString()));
      return command;
    }
  }
}
