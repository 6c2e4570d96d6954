package dev.sluice.benchmarks.scale;

import dev.sluice.benchmarks.NetworkParts;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.transfer.TransferCounter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Executors' worth of network parts in one process, one group at a time. Used and closed by one
 * thread.
 */
final class ExecutorGroup implements AutoCloseable {
  private static final long END_TIMEOUT_S = 60;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final List<NetworkParts> executors = new ArrayList<>();

  static ExecutorGroup start(int count) throws IOException {
    ExecutorGroup group = new ExecutorGroup();
    try {
      for (int i = 0; i < count; i++) {
        group.executors.add(new NetworkParts("" + i));
      }
      return group;
    } catch (IOException | RuntimeException e) {
      group.close();
      throw e;
    }
  }

  NetworkParts get(int executor) {
    return executors.get(executor);
  }

  /** All but the first one, which READs from them. */
  List<NetworkParts> peersOfFirst() {
    return executors.subList(1, executors.size());
  }

  /** Everyone READs from everyone else once, one after the other. */
  void connectAll() throws IOException, InterruptedException {
    connect(executors.size() - 1);
  }

  /** Everyone READs from so many that follow it in a ring, once, one after the other. */
  void connect(int peersEach) throws IOException, InterruptedException {
    for (int reader = 0; reader < executors.size(); reader++) {
      RdmaEndpoint endpoint = executors.get(reader).endpoint();
      try (ReadLoad load = new ReadLoad(endpoint, 1, 1)) {
        for (int distance = 1; distance <= peersEach; distance++) {
          load.measureOne(executors.get((reader + distance) % executors.size()));
        }
      }
    }
  }

  /** Queue pairs of all executors: those that READ and those that were accepted. */
  long queuePairs() {
    return executors.stream()
        .map(parts -> parts.endpoint().counters())
        .mapToLong(
            counters ->
                counters.get(TransferCounter.QUEUE_PAIRS_CREATED)
                    - counters.get(TransferCounter.QUEUE_PAIRS_CLOSED)
                    + counters.get(TransferCounter.QUEUE_PAIRS_ACCEPTED))
        .sum();
  }

  /** Live threads of all groups, those of Spark's transport included. */
  static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("sluice"))
        .count();
  }

  /** Open file descriptors of this process. */
  static long openFiles() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  /** Returns when nothing is left that a later measurement would count. */
  @Override
  public void close() {
    executors.forEach(NetworkParts::close);
    awaitNoThreads();
  }

  /** Those of the transport end some seconds after it was closed. */
  private static void awaitNoThreads() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_TIMEOUT_S);
    while (threads() > 0) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException(
            "%d threads do not end within %d s".formatted(threads(), END_TIMEOUT_S));
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
