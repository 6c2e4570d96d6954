package dev.sluice.rdma.transfer;

/**
 * Contiguous bytes of a peer's registered memory.
 *
 * @param address address in the peer's address space
 * @param length bytes; may exceed one work request
 * @param rkey remote key; never logged
 */
public record ReadRange(long address, long length, int rkey) {
  @Override
  public String toString() {
    return "ReadRange[0x%x, %d bytes]".formatted(address, length);
  }
}
