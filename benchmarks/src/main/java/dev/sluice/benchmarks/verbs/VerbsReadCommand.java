package dev.sluice.benchmarks.verbs;

import dev.sluice.benchmarks.Figure;
import dev.sluice.benchmarks.FigureOutput;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * READs by the binding in Java beside those of perftest in C, on the same device: in every round
 * each of them measures the same, in changing order.
 */
@Command(
    name = "verbs",
    description = {
      "READs by bin/verbs beside ib_read_bw and ib_read_lat, on this machine's RDMA device",
      "Needs perftest. Ratios are ours by theirs, pair by pair: of bandwidth more is better, of"
          + " latency less."
    })
public final class VerbsReadCommand implements Callable<Integer> {
  @Option(
      names = "--rounds",
      defaultValue = "7",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--gid-index",
      defaultValue = "1",
      description =
          "The device's GID that both use (default: ${DEFAULT-VALUE}, in the test bed that of its"
              + " IPv4 address)")
  private int gidIndex;

  @Option(names = "--events", description = "Ours sleeping on completion events, too")
  private boolean events;

  @Mixin private FigureOutput output;

  private final PrintStream out;

  public VerbsReadCommand(PrintStream out) {
    this.out = out;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<MeasuringTool> tools = new ArrayList<>();
    tools.add(MeasuringTool.perftest(gidIndex));
    tools.add(MeasuringTool.ours(gidIndex, false));
    if (events) {
      tools.add(MeasuringTool.ours(gidIndex, true));
    }
    List<Figure> figures = new ArrayList<>();
    for (VerbsCase workload : VerbsCase.ALL) {
      figures.addAll(figures(workload, tools));
    }
    output.write(out, figures);
    return 0;
  }

  private List<Figure> figures(VerbsCase workload, List<MeasuringTool> tools)
      throws IOException, InterruptedException {
    double[][] values = measure(workload, tools);
    List<Figure> figures = new ArrayList<>();
    for (int t = 0; t < tools.size(); t++) {
      String name = workload.name() + ", " + tools.get(t).name();
      figures.add(Figure.of(name, workload.unit(), values[t]));
      if (t > 0) {
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
          ratios[i] = values[t][i] / values[0][i];
        }
        figures.add(Figure.of(name + " / perftest", "x", ratios));
      }
    }
    return figures;
  }

  private double[][] measure(VerbsCase workload, List<MeasuringTool> tools)
      throws IOException, InterruptedException {
    System.err.println(workload.name());
    double[][] values = new double[tools.size()][rounds];
    List<MeasuringTool> order = new ArrayList<>(tools);
    for (int i = 0; i < rounds; i++) {
      for (MeasuringTool tool : order) {
        values[tools.indexOf(tool)][i] = tool.measure(workload);
      }
      Collections.rotate(order, 1);
    }
    return values;
  }
}
