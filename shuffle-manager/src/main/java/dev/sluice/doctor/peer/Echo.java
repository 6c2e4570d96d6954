package dev.sluice.doctor.peer;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.Gid;
import dev.sluice.rdma.verbs.VerbsProvider;
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
 * Datagrams between the addresses of two RoCE GIDs, to tell in which direction nothing arrives
 * where READs fail: READs need both, and say only that no answer came. Each is answered as it is.
 */
final class Echo implements AutoCloseable {
  private static final int TRIES = 3;
  private static final int ANSWER_TIMEOUT_MS = 300;
  private static final int MOST_HEARD = 10_000;

  private final Set<Long> heard = ConcurrentHashMap.newKeySet();
  private final Optional<DatagramSocket> socket;

  Echo(Device device) {
    socket =
        device.providerName().equals(VerbsProvider.NAME) ? bound(device.gid()) : Optional.empty();
    socket.ifPresent(s -> Thread.ofPlatform().daemon().name("doctor-echo").start(() -> answer(s)));
  }

  /** None on InfiniBand, whose GIDs are no addresses of this machine. */
  private static Optional<DatagramSocket> bound(Gid gid) {
    try {
      return Optional.of(new DatagramSocket(0, gid.toInetAddress()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** UDP port; 0 where datagrams tell nothing. */
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
        packet.setLength(Long.BYTES); // which what was received before may have cut
        from.receive(packet);
        if (packet.getLength() == Long.BYTES && heard.size() < MOST_HEARD) {
          heard.add(ByteBuffer.wrap(packet.getData()).getLong());
        }
        from.send(packet);
      } catch (IOException e) {
        // Closed, or an answer for which there is no route: the asking side sees that none comes.
      }
    }
  }

  /** Whether a datagram goes to a peer's echo and comes back. */
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
          // Datagrams may be lost: again.
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
