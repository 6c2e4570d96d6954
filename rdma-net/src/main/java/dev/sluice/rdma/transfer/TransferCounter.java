package dev.sluice.rdma.transfer;

/** What an endpoint counts. */
public enum TransferCounter {
  /** Bytes that READs brought into local buffers. */
  READ_BYTES
}
