// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.concurrent.atomic.LongAdder;

/** Values of all {@link TransferCounter}s; any thread reads and writes them. */
public final class TransferCounters {
  private final LongAdder[] values = new LongAdder[TransferCounter.values().length];

  public TransferCounters() {
    for (int i = 0; i < values.length; i++) {
      values[i] = new LongAdder();
    }
  }

  public void add(TransferCounter counter, long value) {
    values[counter.ordinal()].add(value);
  }

  public long get(TransferCounter counter) {
    return values[counter.ordinal()].sum();
  }

  void increment(TransferCounter counter) {
    values[counter.ordinal()].increment();
  }
}
