package dev.sluice.benchmarks.read;

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
 * READ on the software provider between two processes, beside a plain socket between the same two:
 * in every round each of them does the same transfers, in changing order.
 */
@Command(name = "read", description = "READs between two processes, beside a plain socket")
public final class ReadCommand implements Callable<Integer> {
  private static final int WARM_UP_ROUNDS = 2;

  @Option(
      names = "--rounds",
      defaultValue = "9",
      description = "Measurements of each (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Mixin private FigureOutput output;

  private final PrintStream out;

  public ReadCommand(PrintStream out) {
    this.out = out;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Figure> figures = new ArrayList<>();
    try (PeerProcess peer = PeerProcess.start()) {
      PeerProcess.Memory memory = peer.memory();
      try (Partner socket = new SocketPartner(peer.connectSocket(), memory.forSeam().length());
          Partner seam = new SeamPartner(peer, memory.forSeam());
          Partner endpoint = new EndpointPartner(peer, memory.forEndpoint())) {
        for (Workload workload : Workload.ALL) {
          figures.addAll(figures(workload, List.of(socket, seam, endpoint)));
        }
      }
    }
    output.write(out, figures);
    return 0;
  }

  /** One figure a partner, and for all but the first its speed beside the first, pair by pair. */
  private List<Figure> figures(Workload workload, List<Partner> partners)
      throws IOException, InterruptedException {
    long[][] nanos = measure(workload, partners);
    List<Figure> figures = new ArrayList<>();
    for (int p = 0; p < partners.size(); p++) {
      double[] values = new double[rounds];
      double[] speeds = new double[rounds];
      for (int i = 0; i < rounds; i++) {
        values[i] = workload.figure(nanos[p][i]);
        speeds[i] = Workload.speed(nanos[p][i], nanos[0][i]);
      }
      String name = workload.name() + ", " + partners.get(p).name();
      figures.add(Figure.of(name, workload.unit(), values));
      if (p > 0) {
        figures.add(Figure.of(name + " / " + partners.getFirst().name(), "x", speeds));
      }
    }
    return figures;
  }

  private long[][] measure(Workload workload, List<Partner> partners)
      throws IOException, InterruptedException {
    System.err.println(workload.name());
    long[][] nanos = new long[partners.size()][rounds];
    List<Partner> order = new ArrayList<>(partners);
    for (int i = -WARM_UP_ROUNDS; i < rounds; i++) {
      for (Partner partner : order) {
        long elapsed = partner.measure(workload);
        if (i >= 0) {
          nanos[partners.indexOf(partner)][i] = elapsed;
        }
      }
      Collections.rotate(order, 1);
    }
    return nanos;
  }
}
