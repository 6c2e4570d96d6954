package dev.sluice.benchmarks.engine;

import dev.sluice.benchmarks.ComparisonOutput;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.Pairs;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.rdma.ProviderUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What READs cost the transfer engine, on an adapter that costs nothing. */
@Command(
    name = "engine",
    description = {
      "READs by the transfer engine on an adapter of memory, which completes them as fast as links of",
      "100, 200 and 400 Gb/s would: how many its thread does, and what they take of it. Needs gcc",
      "and rdma-core's headers, and no RDMA device."
    })
public final class EngineCommand implements Callable<Integer> {
  @Option(
      names = "--rounds",
      defaultValue = "7",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private ComparisonOutput output;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path directory = RunDirectory.of("engine");
    Pairs pairs = new Pairs();
    try {
      FakeAdapter adapter = FakeAdapter.load(Path.of(System.getenv("SLUICE_HOME")), directory);
      try (EngineRuns runs = new EngineRuns(adapter, rounds, pairs)) {
        runs.measure();
      }
      return output.write(pairs.comparisons());
    } catch (ProviderUnavailableException e) {
      System.err.println("skipped: " + e.getMessage());
      return 1;
    } finally {
      Directories.delete(directory);
    }
  }
}
