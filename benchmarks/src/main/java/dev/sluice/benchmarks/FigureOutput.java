package dev.sluice.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** Options and output that the commands for single figures share. */
public final class FigureOutput {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this and exit")
  private boolean help;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures there too")
  private Path json;

  public void write(PrintStream out, List<Figure> figures) throws IOException {
    out.printf("%-44s %10s %-7s %10s%n", "", "median", "", "min to max");
    figures.forEach(figure -> out.println(figure.line()));
    if (json != null) {
      new ObjectMapper().writeValue(json.toFile(), figures);
    }
  }
}
