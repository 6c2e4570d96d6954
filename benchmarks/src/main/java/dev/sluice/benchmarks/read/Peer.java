package dev.sluice.benchmarks.read;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/**
 * What the process that is READ from says first, in a line of JSON.
 *
 * @param address of its block server, which gives out queue pairs
 * @param memory that may be READ
 * @param socketPort where it answers {@link SocketPartner}'s requests for the same bytes, on one
 *     connection
 */
record Peer(PeerAddress address, RemoteRegion memory, int socketPort) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static Peer of(AnsweringProcess process) throws IOException, InterruptedException {
    return JSON.readValue(process.await(), Peer.class);
  }

  String toLine() throws IOException {
    return JSON.writeValueAsString(this);
  }

  SocketChannel connectSocket() throws IOException {
    return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), socketPort));
  }
}
