// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.rdma.transfer.QueuePairAcceptor;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.network.client.TransportClient;

/**
 * Control connections to this server, and the peer of each. Tells the acceptor when a peer has left
 * and when it has returned. The {@link BlockServerHandler} creates it and calls it on the
 * transport's threads. Its lock is held while it tells the acceptor, so that departures and returns
 * arrive in order: the acceptor must not block. Nothing to close.
 */
final class PeerConnections {
  private final QueuePairAcceptor acceptor;

  // All guarded by this. A peer that reconnects is therefore either here before it has a queue
  // pair, or has left before its queue pair is accepted.
  private final Map<TransportClient, String> peers = new HashMap<>();

  PeerConnections(QueuePairAcceptor acceptor) {
    this.acceptor = acceptor;
  }

  /** Assigns the connection to a peer that asks for a queue pair over it. */
  synchronized void connects(TransportClient client, String peerId) {
    peers.put(client, peerId);
  }

  /** Assigns the connection to the peer that has sent a message over it. */
  synchronized void heardFrom(TransportClient client, String peerId) {
    if (peers.putIfAbsent(client, peerId) == null) {
      acceptor.peerReturned(peerId);
    }
  }

  /**
   * Records the end of a connection. The end may be noticed long after the peer has made another
   * connection; such a peer has not left.
   */
  synchronized void ended(TransportClient client) {
    String peerId = peers.remove(client);
    if (peerId != null && !peers.containsValue(peerId)) {
      acceptor.peerLeft(peerId);
    }
  }
}
