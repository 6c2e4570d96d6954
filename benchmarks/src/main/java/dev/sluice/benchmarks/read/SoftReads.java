package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.NetworkParts;
import dev.sluice.benchmarks.Turns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * READs on the software provider between two processes, by the provider seam and by the transfer
 * engine, beside a plain socket between the same two.
 */
final class SoftReads {
  private static final int WARM_UP_ROUNDS = 3;

  /** Larger than an executor has it by default. */
  private static final long POOL_BYTES = 256 << 20;

  /** A measurement takes some tenths of a second. */
  private static final long BYTES = 512L << 20;

  private static final int LEAST = 64;
  private static final int MOST = 40_000;
  private static final int MOST_LATENCIES = 4_000;

  /** For a stream of 1 MiB READs; MB/s by the socket's. */
  private static final double STREAM_GOAL = 0.95;

  private final int rounds;

  SoftReads(int rounds) {
    this.rounds = rounds;
  }

  List<Comparison> measure(List<Workload> workloads) throws IOException, InterruptedException {
    List<Comparison> rows = new ArrayList<>();
    try (AnsweringProcess process = AnsweringProcess.start(List.of(), PeerMain.class);
        NetworkParts reader = new NetworkParts("reader", POOL_BYTES, NetworkParts.MEMORY_BYTES)) {
      Peer peer = Peer.of(process);
      try (Partner socket = new SocketPartner(peer.connectSocket(), peer.memory().length());
          Partner seam = new SeamPartner(reader, peer);
          Partner endpoint = new EndpointPartner(reader.endpoint(), peer)) {
        List<Partner> partners = List.of(socket, seam, endpoint);
        for (Workload workload : workloads) {
          System.err.println(workload.name());
          rows.addAll(rows(workload, partners));
        }
      }
    }
    return rows;
  }

  /** Each but the first beside the first. */
  private List<Comparison> rows(Workload workload, List<Partner> partners)
      throws IOException, InterruptedException {
    int count = workload.count(BYTES, LEAST, workload.isLatency() ? MOST_LATENCIES : MOST);
    double[][] values =
        Turns.measure(
            partners,
            WARM_UP_ROUNDS,
            rounds,
            (partner, _) -> value(workload, count, partner.measure(workload, count)));
    List<Comparison> rows = new ArrayList<>();
    for (int p = 1; p < partners.size(); p++) {
      rows.add(
          new Comparison(
              "read-soft-" + partners.get(p).name() + "-" + workload.name(),
              workload.isLatency() ? "us" : "MB/s",
              workload.better(),
              values[p],
              partners.getFirst().name(),
              values[0],
              goal(workload)));
    }
    return rows;
  }

  private static double value(Workload workload, int count, long nanos) {
    return workload.isLatency()
        ? nanos / 1e3 / count
        : (double) workload.bytes() * count / 1e6 / (nanos / 1e9);
  }

  private static Double goal(Workload workload) {
    return !workload.isLatency() && workload.bytes() == 1 << 20 ? STREAM_GOAL : null;
  }
}
