package dev.sluice.spark.locate;

import java.io.IOException;

/** Spark's broadcast, as far as the directory ships large tables by it. */
public interface Broadcasts {
  /**
   * What the driver has shipped.
   *
   * @param handle what executors need to {@link #fetch} it
   * @param destroy frees it everywhere; may block
   */
  record Shipped(byte[] handle, Runnable destroy) {}

  /** On the driver: makes the bytes available to executors. May block for a short time. */
  Shipped ship(byte[] bytes) throws IOException;

  /** On an executor: fetches the bytes. Blocks. */
  byte[] fetch(byte[] handle) throws IOException;
}
