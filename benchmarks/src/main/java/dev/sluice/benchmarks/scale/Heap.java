package dev.sluice.benchmarks.scale;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.concurrent.Callable;

/** What objects take in this JVM's heap, by its own count before and after they are made. */
final class Heap {
  /** A collection may leave what only the next one can free: references, and what they held. */
  private static final int COLLECTIONS = 3;

  private Heap() {}

  /** Bytes that are reachable. */
  private static long usedBytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Bytes that what is made holds. */
  static long retainedBytes(Callable<?> maker) throws Exception {
    long before = usedBytes();
    Object made = maker.call();
    long bytes = usedBytes() - before;
    Reference.reachabilityFence(made);
    return bytes;
  }
}
