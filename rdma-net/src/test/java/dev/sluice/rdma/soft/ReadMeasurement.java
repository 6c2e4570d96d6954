package dev.sluice.rdma.soft;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.RemotePeer;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Measures READs between two processes over loopback, next to a plain socket stream in the same
 * run. A program for people: {@code java -cp ... dev.sluice.rdma.soft.ReadMeasurement}.
 */
public final class ReadMeasurement {
  private static final int REGION_BYTES = 64 << 20;
  private static final int SOCKET_BYTES = 256 << 10;
  private static final long STREAM_BYTES = 4L << 30;

  private ReadMeasurement() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 1) {
      serveStream(Integer.parseInt(args[0]));
      return;
    }
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (TestNode node = new TestNode(new SoftProvider(SoftOptions.DEFAULT).open(loopback));
        RemotePeer peer = RemotePeer.start(SoftProvider.NAME, REGION_BYTES)) {
      MemoryRegion target = node.register(REGION_BYTES, TestNode.ALL);
      QueuePair queuePair = node.createQueuePair();
      queuePair.toInit(TestNode.ALL);
      queuePair.toRtr(peer.connect(queuePair.address()), ConnectionAttributes.DEFAULT);
      queuePair.toRts();
      for (int round = 0; round < 3; round++) {
        double socket = STREAM_BYTES / plainStreamSeconds() / 1e9;
        double seconds =
            readSeconds(node, queuePair, peer, target, 1 << 20, 16, (int) (STREAM_BYTES >> 20));
        double read = STREAM_BYTES / seconds / 1e9;
        int small = 20_000;
        double latency = readSeconds(node, queuePair, peer, target, 16, 1, small) / small * 1e6;
        int many = 400_000;
        double rate = many / readSeconds(node, queuePair, peer, target, 4096, 64, many);
        double tinyRate = many / readSeconds(node, queuePair, peer, target, 16, 64, many);
        System.out.printf(
            Locale.ROOT,
            "socket %.2f GB/s, READ 1 MiB x 16 %.2f GB/s (%.2f), 16 B %.1f us,"
                + " 4 KiB x 64 %.0f/s (%.2f GB/s), 16 B x 64 %.0f/s%n",
            socket,
            read,
            read / socket,
            latency,
            rate,
            rate * 4096 / 1e9,
            tinyRate);
      }
    }
  }

  private static double readSeconds(
      TestNode node,
      QueuePair queuePair,
      RemotePeer peer,
      MemoryRegion target,
      int bytes,
      int depth,
      int count)
      throws VerbsException {
    WorkCompletions batch = new WorkCompletions(depth);
    int slots = REGION_BYTES / bytes;
    long begin = System.nanoTime();
    int posted = 0;
    int done = 0;
    while (done < count) {
      List<SendWorkRequest> chain = new ArrayList<>();
      while (posted < count && posted - done < depth) {
        long offset = (long) (posted++ % slots) * bytes;
        chain.add(
            SendWorkRequest.read(
                posted,
                new ScatterGatherEntry(target.address() + offset, bytes, target.lkey()),
                peer.region().address() + offset,
                peer.region().rkey(),
                true));
      }
      if (!chain.isEmpty()) {
        queuePair.postSend(chain);
      }
      int polled = node.cq.poll(batch);
      if (polled == 0) {
        node.cq.requestNotify(false);
        polled = node.cq.poll(batch);
        if (polled == 0) {
          node.channel.await(1000);
          continue;
        }
      }
      for (int i = 0; i < polled; i++) {
        if (batch.status(i) != WorkCompletionStatus.SUCCESS) {
          throw new IllegalStateException(batch.status(i).name());
        }
      }
      done += polled;
    }
    return (System.nanoTime() - begin) / 1e9;
  }

  private static double plainStreamSeconds() throws Exception {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Process writer =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  ReadMeasurement.class.getName(),
                  Integer.toString(server.socket().getLocalPort()))
              .inheritIO()
              .start();
      try (SocketChannel channel = server.accept()) {
        // As many different pages as the READs have, so that both meet the same caches.
        ByteBuffer memory = ByteBuffer.allocateDirect(REGION_BYTES);
        long begin = System.nanoTime();
        long left = STREAM_BYTES;
        while (left > 0) {
          if (memory.remaining() < SOCKET_BYTES) {
            memory.clear();
          }
          left -= channel.read(memory.limit(memory.position() + SOCKET_BYTES));
          memory.limit(REGION_BYTES);
        }
        return (System.nanoTime() - begin) / 1e9;
      } finally {
        writer.waitFor();
      }
    }
  }

  private static void serveStream(int port) throws IOException {
    ByteBuffer memory = ByteBuffer.allocateDirect(REGION_BYTES);
    try (SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      for (long left = STREAM_BYTES; left > 0; ) {
        int offset = (int) ((STREAM_BYTES - left) % REGION_BYTES);
        left -= channel.write(memory.slice(offset, SOCKET_BYTES));
        // A short write only shifts the next slice's beginning; keep it inside the memory.
        if ((STREAM_BYTES - left) % SOCKET_BYTES != 0) {
          int rest = SOCKET_BYTES - (int) ((STREAM_BYTES - left) % SOCKET_BYTES);
          left -= channel.write(memory.slice(0, rest));
        }
      }
    }
  }
}
