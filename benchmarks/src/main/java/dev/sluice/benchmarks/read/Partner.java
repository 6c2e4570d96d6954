package dev.sluice.benchmarks.read;

import java.io.IOException;

/** One way to bring bytes of the peer process into this one. Used and closed by one thread. */
interface Partner extends AutoCloseable {
  /** As in results. */
  String name();

  /** Nanoseconds that so many READs take, after the first byte could have been asked for. */
  long measure(Workload workload, int count) throws IOException, InterruptedException;

  @Override
  void close() throws IOException;
}
