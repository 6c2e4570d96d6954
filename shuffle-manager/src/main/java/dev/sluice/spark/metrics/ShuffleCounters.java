package dev.sluice.spark.metrics;

/** Blocks and bytes by path. Any thread. */
public final class ShuffleCounters {
  public void read(long blocks, long bytes) {
    throw new UnsupportedOperationException();
  }

  public void local(long blocks, long bytes) {
    throw new UnsupportedOperationException();
  }

  /** Blocks handed over to Spark's own transfer. */
  public void fallback(FallbackReason reason, long blocks) {
    throw new UnsupportedOperationException();
  }

  /** Bytes that arrived by Spark's own transfer. */
  public void fallbackBytes(FallbackReason reason, long bytes) {
    throw new UnsupportedOperationException();
  }
}
