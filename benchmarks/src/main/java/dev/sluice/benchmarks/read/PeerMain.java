package dev.sluice.benchmarks.read;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The process that is READ from: one piece of memory, to be had by a queue pair of the seam, by one
 * of an endpoint, and by a plain socket. Ends when its standard input does.
 */
final class PeerMain {
  private static final long MEMORY_BYTES = 64L << 20;

  private final MemorySegment memory;
  private final ProtectionDomain domain;
  private final CompletionQueue queue;
  private final MemoryRegion seamRegion;
  private final RdmaEndpoint endpoint;
  private final MemoryRegion endpointRegion;

  private PeerMain(Device device, RdmaEndpoint endpoint, MemorySegment memory) throws IOException {
    this.memory = memory;
    this.endpoint = endpoint;
    domain = device.allocateProtectionDomain();
    queue = device.createCompletionQueue(Fabric.MAX_IN_FLIGHT, null);
    seamRegion = domain.register(memory, Set.of(AccessFlag.REMOTE_READ));
    endpointRegion = endpoint.protectionDomain().register(memory, Set.of(AccessFlag.REMOTE_READ));
  }

  public static void main(String[] arguments) throws IOException {
    QueuePairConnector servesOnly =
        (peer, provider, local) ->
            CompletableFuture.failedFuture(new IOException("READs nothing from " + peer));
    try (Arena arena = Arena.ofShared();
        Device device = Fabric.openDevice();
        RdmaEndpoint endpoint =
            RdmaEndpoint.open(Fabric.openDevice(), Fabric.TRANSFER_OPTIONS, servesOnly);
        ServerSocketChannel server = ServerSocketChannel.open()) {
      MemorySegment memory = arena.allocate(MEMORY_BYTES, 4096);
      memory.fill((byte) 0x5A);
      PeerMain peer = new PeerMain(device, endpoint, memory);
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Thread.ofPlatform().daemon().name("accept").start(() -> peer.accept(server));
      System.out.println(server.socket().getLocalPort());
      System.in.transferTo(OutputStream.nullOutputStream());
    }
  }

  private void accept(ServerSocketChannel server) {
    while (true) {
      try {
        SocketChannel channel = server.accept();
        Thread.ofPlatform().daemon().start(() -> serve(channel));
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        throw new UncheckedIOException("accepting a connection", e);
      }
    }
  }

  private void serve(SocketChannel channel) {
    try (channel) {
      DataInputStream in = new DataInputStream(channel.socket().getInputStream());
      DataOutputStream out = new DataOutputStream(channel.socket().getOutputStream());
      switch (in.readUnsignedByte()) {
        case ControlMessages.MEMORY -> {
          ControlMessages.write(out, seamRegion.toRemote());
          ControlMessages.write(out, endpointRegion.toRemote());
        }
        case ControlMessages.SEAM ->
            ControlMessages.write(out, connectSeam(ControlMessages.readAddress(in)));
        case ControlMessages.ENDPOINT ->
            ControlMessages.write(
                out, endpoint.accept("reader", ControlMessages.readAddress(in)).join());
        case ControlMessages.SOCKET -> new SocketResponder(channel, memory.asByteBuffer()).run();
        default -> throw new IOException("a request of unknown kind");
      }
    } catch (IOException e) {
      throw new UncheckedIOException("serving the measuring process", e);
    }
  }

  private QueuePairAddress connectSeam(QueuePairAddress remote) throws IOException {
    QueuePair queuePair = Fabric.queuePair(domain, queue);
    Fabric.connect(queuePair, remote);
    return queuePair.address();
  }
}
