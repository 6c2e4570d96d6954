package dev.sluice.spark.write;

import java.util.concurrent.atomic.AtomicInteger;

/** How many map tasks of this executor are writing. Any thread. */
public final class OpenWriters {
  private final AtomicInteger count = new AtomicInteger();

  void opened() {
    count.incrementAndGet();
  }

  void closed() {
    count.decrementAndGet();
  }

  /** Whether another map output is to be expected soon. */
  public boolean any() {
    return count.get() > 0;
  }
}
