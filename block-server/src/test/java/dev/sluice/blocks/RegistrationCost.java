package dev.sluice.blocks;

import dev.sluice.rdma.ProtectionDomain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Prints what registering a map output costs: reading the index, mapping, registering, and what
 * ending the shuffle costs.
 *
 * <p>Run by hand with a directory on the disk that shuffle files lie on, and a number of
 * partitions.
 */
final class RegistrationCost {
  private static final int REPETITIONS = 50;
  private static final int WARM_UP = 200;

  private RegistrationCost() {}

  public static void main(String[] args) throws Exception {
    Path directory = Files.createTempDirectory(Path.of(args[0]), "registration-cost");
    TestMapOutputs outputs = new TestMapOutputs(directory);
    int partitionCount = Integer.parseInt(args[1]);
    int[] mebibytes = {1, 16, 256};
    for (int size : mebibytes) {
      int[] partitions = new int[partitionCount];
      Arrays.fill(partitions, (size << 20) / partitionCount);
      outputs.write(1, size, partitions);
    }
    System.out.printf("%d partitions, medians of %d, microseconds%n", partitionCount, REPETITIONS);
    System.out.printf("%-6s %6s %10s %12s %8s%n", "", "MiB", "register", "unregister", "index");
    for (int size : mebibytes) {
      measure("fake", new FakeProtectionDomain(), outputs, size);
    }
    try (SoftNode node = new SoftNode()) {
      for (int size : mebibytes) {
        measure("soft", node.domain(), outputs, size);
      }
    }
    for (int size : mebibytes) {
      outputs.delete(1, size);
    }
    Files.delete(directory);
  }

  private static void measure(
      String name, ProtectionDomain domain, TestMapOutputs outputs, long mapId) throws IOException {
    RegistryCounters counters = new RegistryCounters();
    RegistrationBudget budget =
        new RegistrationBudget(new RegistryLimits(1L << 40, 1_000, 0, false), counters);
    long[] registerNs = new long[REPETITIONS];
    long[] closeNs = new long[REPETITIONS];
    long[] indexNs = new long[REPETITIONS];
    for (int i = -WARM_UP; i < REPETITIONS; i++) {
      int slot = Math.max(i, 0);
      RegisteredShuffle shuffle = new RegisteredShuffle(1, domain, budget, counters);
      long start = System.nanoTime();
      shuffle.register(mapId, outputs::find, (memory, cost) -> memory.reserve(cost));
      registerNs[slot] = System.nanoTime() - start;
      start = System.nanoTime();
      shuffle.close();
      closeNs[slot] = System.nanoTime() - start;
      start = System.nanoTime();
      MapOutputIndex.read(outputs.find(1, mapId));
      indexNs[slot] = System.nanoTime() - start;
    }
    System.out.printf(
        "%-6s %6d %10d %12d %8d%n",
        name, mapId, medianMicros(registerNs), medianMicros(closeNs), medianMicros(indexNs));
  }

  private static long medianMicros(long[] nanos) {
    Arrays.sort(nanos);
    return nanos[nanos.length / 2] / 1_000;
  }
}
