// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * Contiguous bytes of a peer's memory that may be READ: a registered region, as peers send it to
 * each other, or a part of one. The key is never logged.
 *
 * @param address address of the first byte in the peer's address space
 * @param length bytes; may exceed one work request
 * @param rkey remote key
 */
public record RemoteRegion(long address, long length, int rkey) {

  @Override
  public String toString() {
    return "RemoteRegion[0x%x, %d bytes]".formatted(address, length);
  }
}
