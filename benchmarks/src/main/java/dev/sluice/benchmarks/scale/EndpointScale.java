package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.CpuTime;
import dev.sluice.benchmarks.NetworkParts;
import dev.sluice.benchmarks.Pairs;
import java.io.IOException;
import java.util.List;

/**
 * What grows with the number of executors: queue pairs, threads, file descriptors and heap of each,
 * the time to the first byte of a peer, and READs per second from many of them.
 *
 * <p>All executors are in one process on the software provider, whose one thread a device the
 * machine's few CPUs share: rates over many peers are what that process can do, and no more.
 *
 * @param few executors of the partner
 * @param many executors
 * @param reads of one measurement of a rate
 */
record EndpointScale(int few, int many, int rounds, int reads) {
  private static final int[] READS_A_REQUEST = {1, 16};
  private static final int LATER_READS = 20;

  void measure(Pairs pairs) throws IOException, InterruptedException {
    costs(few); // for the classes and the compiler
    for (int round = 0; round < rounds; round++) {
      Costs partner = costs(few);
      Costs costs = costs(many);
      String name = "scale-executors-" + many + "-";
      String beside = few + "-executors";
      pairs.less(name + "queue-pairs-each", "1", costs.queuePairs(), beside, partner.queuePairs());
      pairs.less(name + "threads-each", "1", costs.threads(), beside, partner.threads());
      pairs.less(
          name + "files-a-connection",
          "1",
          costs.filesAConnection(),
          beside,
          partner.filesAConnection());
      pairs.less(
          name + "heap-a-connection",
          "B",
          costs.heapAConnection(),
          beside,
          partner.heapAConnection());
    }
    for (int round = -1; round < rounds; round++) {
      reads(round < 0 ? new Pairs() : pairs);
    }
  }

  /** Of one executor of a group in which everyone READs from everyone else. */
  private record Costs(
      double queuePairs, double threads, double filesAConnection, double heapAConnection) {}

  private static Costs costs(int executors) throws IOException, InterruptedException {
    try (ExecutorGroup group = ExecutorGroup.start(executors)) {
      group.connect(1); // what a first connection needs is not needed by another
      long files = ExecutorGroup.openFiles();
      long heap = Heap.usedBytes();
      group.connectAll();
      double connections = (double) executors * (executors - 2);
      return new Costs(
          (double) group.queuePairs() / executors,
          (double) ExecutorGroup.threads() / executors,
          (ExecutorGroup.openFiles() - files) / connections,
          (Heap.usedBytes() - heap) / connections);
    }
  }

  /** One executor READs from all others. */
  private void reads(Pairs pairs) throws IOException, InterruptedException {
    try (ExecutorGroup group = ExecutorGroup.start(many)) {
      List<NetworkParts> peers = group.peersOfFirst();
      try (ReadLoad one = new ReadLoad(group.get(0).endpoint(), 1, 1)) {
        for (NetworkParts peer : peers) {
          double first = one.measureOne(peer) / 1e3;
          double later = one.measure(List.of(peer), LATER_READS) / 1e3 / LATER_READS;
          pairs.less("scale-first-read-of-a-peer", "us", first, "later-read", later);
        }
      }
      for (int each : READS_A_REQUEST) {
        rates(group, each, pairs);
      }
    }
  }

  /** As many requests under way to all peers together as to one of them. */
  private void rates(ExecutorGroup group, int each, Pairs pairs)
      throws IOException, InterruptedException {
    List<NetworkParts> peers = group.peersOfFirst();
    List<NetworkParts> one = peers.subList(0, 1);
    try (ReadLoad load = new ReadLoad(group.get(0).endpoint(), peers.size(), each)) {
      load.measure(peers, reads / each);
      load.measure(one, reads / each);
      Rate all = rate(load, peers, each);
      Rate single = rate(load, one, each);
      String name = "scale-reads-from-%d-peers-by-%d".formatted(peers.size(), each);
      pairs.more(name, "1000/s", all.thousands(), "one-peer", single.thousands());
      pairs.less(name + "-cpu", "us/READ", all.cpuMicros(), "one-peer", single.cpuMicros());
    }
  }

  /**
   * READs of one executor.
   *
   * @param thousands a second
   * @param cpuMicros of the whole process, both ends, for a READ
   */
  private record Rate(double thousands, double cpuMicros) {}

  private Rate rate(ReadLoad load, List<NetworkParts> peers, int each)
      throws IOException, InterruptedException {
    long cpu = CpuTime.ofProcess();
    long nanos = load.measure(peers, reads / each);
    return new Rate(reads / (nanos / 1e9) / 1e3, (CpuTime.ofProcess() - cpu) / 1e3 / reads);
  }
}
