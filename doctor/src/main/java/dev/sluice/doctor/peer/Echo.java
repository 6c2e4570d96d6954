// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Datagrams between the addresses of two RoCE GIDs. When READs fail, they tell in which direction
 * packets are lost: a READ needs both, and reports only that no answer came. Each datagram is sent
 * back unchanged. {@link PeerServer} opens and closes it; the thread {@code doctor-echo} answers
 * until then. {@link PeerReader} sends datagrams by {@link #answers}, on its own thread.
 */
final class Echo implements AutoCloseable {
  /** Number of datagrams, as single ones may be lost. */
  private static final int TRIES = 3;

  private static final int ANSWER_TIMEOUT_MS = 300;

  /** Limits the memory that strangers can make this process take. */
  private static final int MOST_HEARD = 10_000;

  /** Numbers of the datagrams that arrived. */
  private final Set<Long> heard = ConcurrentHashMap.newKeySet();

  private final Optional<DatagramSocket> socket;

  Echo(Device device) {
    socket =
        device.providerName().equals(VerbsProvider.NAME) ? bound(device.gid()) : Optional.empty();
    socket.ifPresent(s -> Thread.ofPlatform().daemon().name("doctor-echo").start(() -> answer(s)));
  }

  /** Returns a socket; none on InfiniBand, whose GIDs are no addresses of this machine. */
  private static Optional<DatagramSocket> bound(Gid gid) {
    try {
      return Optional.of(new DatagramSocket(0, gid.toInetAddress()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Returns the UDP port; 0 if datagrams tell nothing. */
  int port() {
    return socket.map(DatagramSocket::getLocalPort).orElse(0);
  }

  boolean heard(long id) {
    return heard.contains(id);
  }

  private void answer(DatagramSocket from) {
    DatagramPacket packet = new DatagramPacket(new byte[Long.BYTES], Long.BYTES);
    while (!from.isClosed()) {
      try {
        packet.setLength(Long.BYTES); // an earlier packet may have cut it
        from.receive(packet);
        if (packet.getLength() == Long.BYTES && heard.size() < MOST_HEARD) {
          heard.add(ByteBuffer.wrap(packet.getData()).getLong());
        }
        from.send(packet);
      } catch (IOException e) {
        // Closed, or no route for the answer: the asking side sees that none comes.
      }
    }
  }

  /** Returns true if a datagram goes to a peer's echo and comes back. */
  static boolean answers(InetAddress from, InetAddress to, int port, long id) throws IOException {
    byte[] bytes = ByteBuffer.allocate(Long.BYTES).putLong(id).array();
    try (DatagramSocket socket = new DatagramSocket(0, from)) {
      socket.setSoTimeout(ANSWER_TIMEOUT_MS);
      for (int i = 0; i < TRIES; i++) {
        socket.send(new DatagramPacket(bytes, bytes.length, to, port));
        try {
          socket.receive(new DatagramPacket(new byte[Long.BYTES], Long.BYTES));
          return true;
        } catch (SocketTimeoutException e) {
          // Datagrams may be lost: try again.
        }
      }
      return false;
    }
  }

  @Override
  public void close() {
    socket.ifPresent(DatagramSocket::close);
  }
}
