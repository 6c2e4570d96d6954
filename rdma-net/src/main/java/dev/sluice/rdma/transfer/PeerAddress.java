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
  // The JVM links a record's own equals and hashCode at run time, which delays a new process.
  @Override
  public boolean equals(Object other) {
    return other instanceof PeerAddress peer
        && port == peer.port
        && id.equals(peer.id)
        && host.equals(peer.host);
  }

  @Override
  public int hashCode() {
    return (id.hashCode() * 31 + host.hashCode()) * 31 + port;
  }

  @Override
  public String toString() {
    return id + " at " + host + ":" + port;
  }
}
