package dev.sluice.rdma.tools;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What the ping-pong programs tell each other over TCP: the client all of its addresses, then the
 * server its own, then the client that it has them. The exchange of ibv_srq_pingpong always has the
 * same length, and zeros stand for queue pairs that are not used.
 *
 * @param sentAddresses addresses that each side sends
 * @param queuePairs how many of them are used
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
    peer.read(DONE.length, "that it has our address");
  }
}
