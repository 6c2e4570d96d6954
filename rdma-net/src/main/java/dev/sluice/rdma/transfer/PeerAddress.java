// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

/**
 * A peer process, and the address of its control endpoint. Messages have its components in their
 * order: a changed component changes the protocol.
 *
 * @param id the peer's name, unique in the application: an executor id, or the id of a node's block
 *     server
 * @param host host name or address
 * @param port TCP port of its control endpoint
 */
public record PeerAddress(String id, String host, int port) {
  @Override
  public String toString() {
    return id + " at " + host + ":" + port;
  }
}
