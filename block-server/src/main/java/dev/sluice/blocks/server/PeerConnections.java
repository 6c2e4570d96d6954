// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.rdma.transfer.QueuePairAcceptor;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.network.client.TransportClient;

/**
 * Control connections to this server, and the peer of each. Tells the acceptor when a peer has left
 * and when it has returned. The {@link BlockServerHandler} creates it and calls it on the
 * transport's threads. Its lock is held while it tells the acceptor, so that departures and returns
 * arrive in order: the acceptor must not block. Nothing to close.
 *
 * <p>Some messages of version 3 do not name their sender. A connection with only such messages may
 * belong to any peer of that version. While it is open, none of these peers counts as gone. Their
 * ids are kept for good: 100 bytes for each executor of an application that was started before the
 * server was upgraded.
 */
final class PeerConnections {
  private final QueuePairAcceptor acceptor;

  // All guarded by this. A peer that reconnects is therefore either here before it has a queue
  // pair, or has left before its queue pair is accepted.
  private final Map<TransportClient, String> peers = new HashMap<>();

  /** Connections of peers of version 3 that no message has named. */
  private final Set<TransportClient> unnamed = new HashSet<>();

  /** Peers that have sent messages of version 3. */
  private final Set<String> ofVersion3 = new HashSet<>();

  PeerConnections(QueuePairAcceptor acceptor) {
    this.acceptor = acceptor;
  }

  /** Assigns the connection to a peer that asks for a queue pair over it. */
  synchronized void connects(TransportClient client, String peerId) {
    peers.put(client, peerId);
    if (unnamed.remove(client)) {
      ofVersion3.add(peerId);
      leaveUnlessUnnamed();
    }
  }

  /** Assigns the connection to the peer that has sent a message over it. */
  synchronized void heardFrom(TransportClient client, String peerId) {
    if (peers.putIfAbsent(client, peerId) == null) {
      acceptor.peerReturned(peerId);
    }
  }

  /** The same for a message of version 3 that names its sender. */
  synchronized void heardFromVersion3(TransportClient client, String peerId) {
    ofVersion3.add(peerId);
    heardFrom(client, peerId);
    if (unnamed.remove(client)) {
      leaveUnlessUnnamed();
    }
  }

  /** Takes note of a message of version 3 that does not name its sender. */
  synchronized void heardFromVersion3(TransportClient client) {
    String peerId = peers.get(client);
    if (peerId != null) {
      ofVersion3.add(peerId);
    } else if (unnamed.add(client)) {
      forAbsentOfVersion3(acceptor::peerReturned);
    }
  }

  /**
   * Records the end of a connection. The end may be noticed long after the peer has made another
   * connection; such a peer has not left.
   */
  synchronized void ended(TransportClient client) {
    String peerId = peers.remove(client);
    boolean mayBeUnnamed = ofVersion3.contains(peerId) && !unnamed.isEmpty();
    if (peerId != null && !peers.containsValue(peerId) && !mayBeUnnamed) {
      acceptor.peerLeft(peerId);
    }
    if (unnamed.remove(client)) {
      leaveUnlessUnnamed();
    }
  }

  /** Peers of version 3 without a connection have left when no connection may be theirs. */
  private void leaveUnlessUnnamed() {
    if (unnamed.isEmpty()) {
      forAbsentOfVersion3(acceptor::peerLeft);
    }
  }

  private void forAbsentOfVersion3(Consumer<String> action) {
    Set<String> absent = new HashSet<>(ofVersion3);
    absent.removeAll(peers.values());
    absent.forEach(action);
  }
}
