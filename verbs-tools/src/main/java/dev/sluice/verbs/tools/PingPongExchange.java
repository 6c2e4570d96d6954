// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Exchange of addresses between the ping-pong programs over TCP. The client sends all of its
 * addresses, the server answers with its own, and the client confirms them. ibv_srq_pingpong always
 * sends the same number of addresses, with zeros for unused queue pairs. {@link PingPongCommand}
 * uses it once, on one thread, and closes the connection. The format is that of the C programs.
 *
 * @param sentAddresses number of addresses that each side sends
 * @param queuePairs number of addresses in use
 */
record PingPongExchange(Rendezvous peer, int sentAddresses, int queuePairs) {
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

  void send(List<QpAddress> addresses) throws IOException {
    List<QpAddress> all = new ArrayList<>(addresses);
    all.addAll(Collections.nCopies(sentAddresses - addresses.size(), QpAddress.NONE));
    for (QpAddress address : all) {
      peer.write(address.toWire());
    }
  }

  List<QpAddress> receive() throws IOException {
    List<QpAddress> addresses = new ArrayList<>();
    for (int i = 0; i < sentAddresses; i++) {
      QpAddress address = QpAddress.fromWire(peer.read(QpAddress.WIRE_LENGTH, "its address"));
      if (i < queuePairs) {
        addresses.add(address);
      }
    }
    if (addresses.contains(QpAddress.NONE)) {
      throw new IOException("the peer has fewer than " + queuePairs + " queue pairs (--num-qp)");
    }
    return addresses;
  }

  void sendDone() throws IOException {
    peer.write(DONE);
  }

  void awaitDone() throws IOException {
    peer.read(DONE.length, "that it has this side's address");
  }
}
