package dev.sluice.rdma.transfer;

/**
 * Gets the one answer to a read. Called with no lock held, on the completion thread of the device
 * or on the thread that submitted: must be quick and must not block.
 */
public interface ReadListener {
  /** All bytes are in the target buffer. */
  void onSuccess();

  /** None of the target buffer may be used. */
  void onFailure(ReadException failure);
}
