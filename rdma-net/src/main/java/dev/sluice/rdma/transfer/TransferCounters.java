package dev.sluice.rdma.transfer;

/** One value per {@link TransferCounter}; written and read by any thread. */
public final class TransferCounters {
  public void add(TransferCounter counter, long value) {
    throw new UnsupportedOperationException();
  }

  public long get(TransferCounter counter) {
    throw new UnsupportedOperationException();
  }
}
