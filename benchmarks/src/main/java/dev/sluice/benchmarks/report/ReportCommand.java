package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code bin/bench report}: writes the tables of docs/figures/performance-tables.md from rows. */
@Command(
    name = "report",
    description = {
      "Writes the tables of docs/figures/performance-tables.md",
      "They have the rows of docs/figures/results.json, to which it adds those of the files. The",
      "text between the tables is written by hand and stays."
    })
public final class ReportCommand implements Callable<Integer> {
  @Option(
      names = "--document",
      paramLabel = "FILE",
      description = "Another document, which keeps its rows in results.json beside it")
  private Path document;

  @Parameters(paramLabel = "FILE", description = "What --json of the benchmarks has written")
  private List<Path> files = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    Path chosen =
        document != null
            ? document.toAbsolutePath()
            : Path.of(System.getenv("SLUICE_HOME"), "docs", "figures", "performance-tables.md");
    PerformanceDocument performance = new PerformanceDocument(chosen);
    for (Path file : files) {
      if (!Files.exists(file)) {
        System.err.println("there is no " + file);
        return 1;
      }
      performance.rows().add(new ResultFile(file).read());
    }
    performance.write();
    return 0;
  }
}
