package dev.sluice.benchmarks.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Makes a row of what jobs that were submitted to a cluster have written. */
@Command(
    name = "compare",
    sortOptions = false,
    description = {
      "Compares jobs that spark-submit has run on a cluster",
      "Seconds that they took, pair by pair in the order in which the files are given."
    })
public final class CompareCommand implements Callable<Integer> {
  @Option(names = "--name", required = true, description = "Of the row")
  private String name;

  @Option(
      names = "--sluice",
      required = true,
      arity = "1..*",
      paramLabel = "FILE",
      description = "Result files of jobs through Sluice")
  private List<Path> sluice;

  @Option(
      names = "--stock",
      required = true,
      arity = "1..*",
      paramLabel = "FILE",
      description = "Result files of the same jobs through the stock shuffle")
  private List<Path> stock;

  @Option(
      names = "--value",
      paramLabel = "POINTER",
      defaultValue = "/seconds",
      description = "Which value of the files, as a JSON pointer (default: ${DEFAULT-VALUE})")
  private String value;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException {
    return output.write(
        List.of(Comparison.less(name, "s", seconds(sluice), "stock", seconds(stock))));
  }

  private double[] seconds(List<Path> files) throws IOException {
    double[] seconds = new double[files.size()];
    for (int i = 0; i < seconds.length; i++) {
      JsonNode found = new ObjectMapper().readTree(files.get(i).toFile()).at(value);
      if (!found.isNumber()) {
        throw new IOException(files.get(i) + " has no number at " + value);
      }
      seconds[i] = found.asDouble();
    }
    return seconds;
  }
}
