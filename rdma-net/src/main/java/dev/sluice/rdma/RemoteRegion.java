package dev.sluice.rdma;

/**
 * A peer's memory as one may READ it: what travels between machines. The key is never logged.
 *
 * @param address address of the first byte in the peer's address space
 * @param length bytes
 * @param rkey remote key
 */
public record RemoteRegion(long address, long length, int rkey) {

  @Override
  public String toString() {
    return "RemoteRegion[0x%x, %d bytes]".formatted(address, length);
  }
}
