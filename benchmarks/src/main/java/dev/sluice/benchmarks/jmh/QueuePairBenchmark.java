package dev.sluice.benchmarks.jmh;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.soft.SoftProvider;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Posting a chain of 16 READs of 64 bytes and polling until they are done, by the seam on the
 * software provider; beside 16 requests in one write on a plain connection, answered in one write,
 * one blocking thread at each end. Nanoseconds a READ.
 */
@State(Scope.Thread)
public class QueuePairBenchmark {
  private static final int CHAIN = 16;
  private static final int BYTES = 64;
  private static final int REQUEST_BYTES = 16;
  private static final long STALL_MS = 10_000;
  private static final QueuePairCapabilities CAPABILITIES =
      new QueuePairCapabilities(CHAIN, 1, 1, 1, 0);

  private final Arena arena = Arena.ofShared();
  private final WorkCompletions completions = new WorkCompletions(CHAIN);
  private final List<SendWorkRequest> chain = new ArrayList<>();
  private final ByteBuffer requests = ByteBuffer.allocateDirect(CHAIN * REQUEST_BYTES);
  private final ByteBuffer answers = ByteBuffer.allocateDirect(CHAIN * BYTES);
  private Device reader;
  private Device server;
  private QueuePair queuePair;
  private CompletionChannel channel;
  private CompletionQueue queue;
  private SocketChannel socket;

  @Setup
  public void connect() throws IOException {
    reader = open();
    server = open();
    ProtectionDomain domain = reader.allocateProtectionDomain();
    ProtectionDomain remoteDomain = server.allocateProtectionDomain();
    channel = reader.createCompletionChannel();
    queue = reader.createCompletionQueue(CHAIN, channel);
    queuePair = queuePair(domain, queue, EnumSet.noneOf(AccessFlag.class));
    QueuePair remote =
        queuePair(
            remoteDomain,
            server.createCompletionQueue(CHAIN, null),
            EnumSet.of(AccessFlag.REMOTE_READ));
    remote.toRtr(queuePair.address(), ConnectionAttributes.DEFAULT);
    queuePair.toRtr(remote.address(), ConnectionAttributes.DEFAULT);
    queuePair.toRts();
    MemoryRegion target =
        domain.register(arena.allocate(CHAIN * BYTES), Set.of(AccessFlag.LOCAL_WRITE));
    MemoryRegion source =
        remoteDomain.register(arena.allocate(CHAIN * BYTES), Set.of(AccessFlag.REMOTE_READ));
    for (int i = 0; i < CHAIN; i++) {
      ScatterGatherEntry slot =
          new ScatterGatherEntry(target.address() + (long) i * BYTES, BYTES, target.lkey());
      chain.add(
          SendWorkRequest.read(i, slot, source.address() + (long) i * BYTES, source.rkey(), true));
    }
    connectSocket();
  }

  private static Device open() throws IOException {
    return new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress());
  }

  private static QueuePair queuePair(
      ProtectionDomain domain, CompletionQueue completionQueue, Set<AccessFlag> access)
      throws IOException {
    QueuePair created = domain.createQueuePair(completionQueue, completionQueue, CAPABILITIES);
    created.toInit(access);
    return created;
  }

  private void connectSocket() throws IOException {
    try (ServerSocketChannel listening = ServerSocketChannel.open()) {
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      socket = SocketChannel.open(listening.getLocalAddress());
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      SocketChannel accepted = listening.accept();
      accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
      Thread.ofPlatform().daemon().name("plain-server").start(() -> serve(accepted));
    }
  }

  private static void serve(SocketChannel accepted) {
    ByteBuffer asked = ByteBuffer.allocateDirect(CHAIN * REQUEST_BYTES);
    ByteBuffer answer = ByteBuffer.allocateDirect(CHAIN * BYTES);
    try (accepted) {
      while (transfer(accepted, asked)) {
        answer.clear();
        while (answer.hasRemaining()) {
          accepted.write(answer);
        }
      }
    } catch (AsynchronousCloseException e) {
      return;
    } catch (IOException e) {
      throw new IllegalStateException("the plain connection broke", e);
    }
  }

  /** Fills the buffer; false at the end of the connection. */
  private static boolean transfer(SocketChannel from, ByteBuffer into) throws IOException {
    into.clear();
    while (into.hasRemaining()) {
      if (from.read(into) < 0) {
        return false;
      }
    }
    return true;
  }

  @TearDown
  public void close() throws IOException {
    socket.close();
    reader.close();
    server.close();
    arena.close();
  }

  @Benchmark
  @OperationsPerInvocation(CHAIN)
  public int postAndPoll() throws IOException {
    queuePair.postSend(chain);
    int completed = 0;
    while (completed < CHAIN) {
      completed += awaitCompletions();
    }
    return completed;
  }

  /** Sleeps where there are none, as the partner does: a spinning thread would take a CPU away. */
  private int awaitCompletions() throws IOException {
    if (queue.poll(completions) == 0) {
      queue.requestNotify(false);
      if (queue.poll(completions) == 0 && !channel.await(STALL_MS)) {
        throw new IOException("no READ completed within " + STALL_MS + " ms");
      }
    }
    for (int i = 0; i < completions.size(); i++) {
      if (completions.status(i) != WorkCompletionStatus.SUCCESS) {
        throw new IOException("READ " + completions.wrId(i) + ": " + completions.status(i));
      }
    }
    return completions.size();
  }

  @Benchmark
  @OperationsPerInvocation(CHAIN)
  public boolean postAndPollBaseline() throws IOException {
    requests.clear();
    while (requests.hasRemaining()) {
      socket.write(requests);
    }
    return transfer(socket, answers);
  }
}
