// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.DaemonThreads.EnsuredPool;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA endpoint of an executor, or of one application at a node daemon: owns device, protection
 * domain, buffers, connections and reads. Any thread; its opener closes it. Parts are closed in the
 * order of {@link #close}: threads before queues, queues before buffers, and the device last.
 *
 * <p>It runs one thread for any number of peers, and a few more while it connects. The number of
 * peers determines the queue pairs, one in each direction and both capped ({@link Connections},
 * {@link AcceptedQueuePairs}). It pins the buffer pool, which is capped as well.
 */
public final class RdmaEndpoint implements QueuePairAcceptor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaEndpoint.class);

  /**
   * Maximum bytes of a small READ: it takes no longer than a network round trip, and is posted
   * before larger ones.
   */
  public static final int SMALL_READ_BYTES = 64 << 10;

  /** Maximum outstanding work requests of all queue pairs: small READs fill a fast network. */
  private static final int MAX_OUTSTANDING = 16_384;

  /** This many unreachable peers do not delay connecting to others. */
  private static final int MAX_CONNECTING = 32;

  private static final long STOP_TIMEOUT_MS = 10_000;

  private final Device device;
  private final ProtectionDomain protectionDomain;
  private final CompletionChannel channel;
  private final CompletionQueue completionQueue;
  private final CompletionQueue unpolledQueue;
  private final BufferPool buffers;

  /**
   * Creates, connects and destroys queue pairs. Each step is a device command that may take a
   * second: on RoCE ibv_modify_qp(3) to RTR waits until the peer's address is resolved. The
   * completion thread and the control channel's threads therefore do none of this.
   */
  private final EnsuredPool connectThreads;

  private final AcceptedQueuePairs accepted;
  private final ReadEngine engine;
  private final ReadThread thread;
  private final Counters<TransferCounter> counters = new Counters<>(TransferCounter.class);
  private final AtomicBoolean closed = new AtomicBoolean();

  private RdmaEndpoint(
      Device device, TransferOptions options, QueuePairConnector connector, ThreadFactory threads)
      throws VerbsException {
    this.device = device;
    protectionDomain = device.allocateProtectionDomain();
    channel = device.createCompletionChannel();
    completionQueue = device.createCompletionQueue(entries(device, options), channel);
    unpolledQueue = device.createCompletionQueue(1, null);
    buffers =
        BufferPool.targets(
            protectionDomain,
            options.bufferPoolBytes(),
            options.maxBufferBytes(),
            counters,
            System::nanoTime);
    connectThreads = new EnsuredPool(MAX_CONNECTING, DaemonThreads.numbered("sluice-connect-"));
    accepted =
        new AcceptedQueuePairs(protectionDomain, unpolledQueue, options, counters, connectThreads);
    TaskQueue tasks = new TaskQueue(counters, channel::wakeUp);
    ConnectAttempt.Setup setup =
        new ConnectAttempt.Setup(
            protectionDomain, completionQueue, options, connector, counters, connectThreads);
    engine =
        new ReadEngine(
            completionQueue,
            new Connections(setup, tasks),
            buffers,
            options,
            counters,
            tasks,
            System::nanoTime);
    thread =
        new ReadThread(
            engine, tasks, completionQueue, channel, counters, options.spinMicros(), threads);
  }

  /** Takes ownership of {@code device}: {@link #close} closes it, or this method if it fails. */
  public static RdmaEndpoint open(
      Device device, TransferOptions options, QueuePairConnector connector) throws VerbsException {
    return open(device, options, connector, DaemonThreads.named("sluice-read"));
  }

  /** Opens the endpoint with a read thread of a factory. */
  static RdmaEndpoint open(
      Device device, TransferOptions options, QueuePairConnector connector, ThreadFactory threads)
      throws VerbsException {
    try {
      RdmaEndpoint endpoint =
          new RdmaEndpoint(device, options.within(device.attributes()), connector, threads);
      endpoint.thread.start();
      return endpoint;
    } catch (VerbsException | RuntimeException | Error e) {
      device.close(); // Closes its children, too.
      throw e;
    }
  }

  private static int entries(Device device, TransferOptions options) {
    DeviceAttributes attributes = device.attributes();
    int limit = Math.min(MAX_OUTSTANDING, attributes.maxCompletionQueueEntries());
    return (int) Math.min(limit, (long) options.maxQueuePairs() * options.sendQueueDepth());
  }

  public Device device() {
    return device;
  }

  public ProtectionDomain protectionDomain() {
    return protectionDomain;
  }

  public BufferPool buffers() {
    return buffers;
  }

  /**
   * Begins to connect a queue pair to a peer that this endpoint does not know yet, so that the
   * first READ need not wait for it. It counts against the limit, and is closed when it is idle, as
   * others are. A failure is logged, and told to the next READ by its own attempt. Any thread;
   * never blocks.
   */
  public void connect(PeerAddress peer) {
    engine.connect(peer);
  }

  /** Submits a read. Its listener gets exactly one answer. Any thread; never blocks. */
  public void read(ReadRequest request) {
    engine.submit(request);
  }

  /**
   * READs one region. The future completes with null, or exceptionally with the failure. Any
   * thread; never blocks.
   */
  public CompletableFuture<Void> read(
      PeerAddress peer, RemoteRegion region, PooledBuffer target, long deadlineNanos) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    ReadListener listener = ReadListener.completing(done);
    read(new ReadRequest(peer, List.of(region), target, 0, deadlineNanos, listener));
    return done;
  }

  @Override
  public CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote) {
    return accepted.accept(peerId, remote);
  }

  @Override
  public void disconnected(String peerId, int remoteQpNumber) {
    accepted.disconnected(peerId, remoteQpNumber);
  }

  @Override
  public void peerLeft(String peerId) {
    accepted.peerLeft(peerId);
  }

  @Override
  public void peerReturned(String peerId) {
    accepted.peerReturned(peerId);
  }

  /** Reports that the peer is gone: closes its queue pairs, and its reads fail at once. */
  public void peerLost(String peerId) {
    accepted.peerLost(peerId);
    engine.peerLost(peerId);
  }

  /** Returns the latencies of the READs. Any thread. */
  public ReadLatencies latencies() {
    return engine.latencies();
  }

  public Counters<TransferCounter> counters() {
    return counters;
  }

  /**
   * Answers outstanding reads with CLOSED, then closes everything down to the device. If a listener
   * blocks the thread, or calls this method, the device stays open and memory that READs may still
   * write to is not freed.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    accepted.close();
    if (!thread.stop(STOP_TIMEOUT_MS)) {
      LOG.error("The read thread did not end in time: device and buffers stay open");
      return;
    }
    if (!connectThreads.stop(STOP_TIMEOUT_MS)) {
      LOG.error("Queue pairs were not destroyed in time: device and buffers stay open");
      return;
    }
    close(unpolledQueue);
    close(completionQueue);
    channel.close();
    buffers.close();
    protectionDomain.close();
    device.close();
  }

  private static void close(CompletionQueue queue) {
    try {
      queue.close();
    } catch (VerbsException e) {
      LOG.warn("Closing a completion queue failed", e);
    }
  }
}
