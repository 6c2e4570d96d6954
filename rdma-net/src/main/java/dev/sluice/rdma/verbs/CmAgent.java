// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.verbs.CmAttempt.Wish;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ffi.EventFd;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ibv.IbvEce;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs rdma_cm for a device: a listening id, the ids of all connections, and the one thread that
 * takes their events. Any thread may call its methods, which never wait. Ids are destroyed on the
 * agent's own thread only. The {@link VerbsDevice} opens it, and stops it after its queue pairs are
 * closed.
 *
 * <p>Authentication stays with the control channel. A request is accepted only for the queue pair
 * that it names, and only with the token that this process issued for that queue pair.
 *
 * <p>Cost: one thread, and one id per connected queue pair. At 1,000 executors that all READ from
 * one another, that is 2,000 ids of a few KiB each in the kernel.
 */
final class CmAgent {
  private static final Logger LOG = LoggerFactory.getLogger(CmAgent.class);
  private static final int BACKLOG = 1024;

  /** Limit of one wait without attempts; tasks and events end it. */
  private static final long MAX_WAIT_MS = 60_000;

  /** Time that a peer may need to end the former connection of a queue pair. */
  private static final long STALE_PAUSE_MS = 10;

  private static final long STOP_TIMEOUT_MS = 10_000;

  /** Keeps an error that lasts from taking a whole processor. */
  private static final long PAUSE_AFTER_ERROR_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** Shortest time between two warnings of a kind. */
  private static final long TOLD_EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final SecureRandom random = new SecureRandom();
  private final RdmaEventChannel channel;
  private final EventFd wakeUp;
  private final Thread thread;
  private final Map<Integer, CmHandshake> offers = new ConcurrentHashMap<>();
  private final Map<RdmaCmId, CmHandshake> connections = new ConcurrentHashMap<>();

  /** Used by the agent's thread only. */
  private final Map<RdmaCmId, CmAttempt> attempts = new HashMap<>();

  /** Tasks of other threads for this one. Guarded by this, like {@code ended}. */
  private Queue<Runnable> tasks = new ArrayDeque<>();

  /** True once the thread runs no more tasks. */
  private boolean ended;

  // Used by the agent's thread only.
  private long errors;
  private long errorToldNanos;
  private long refusals;
  private long refusalToldNanos;

  /** Used by the thread that opens the agent, then by the thread of the device's events. */
  private RdmaCmId listening;

  private volatile InetSocketAddress address;
  private volatile boolean stopping;

  private CmAgent(RdmaEventChannel channel, RdmaCmId listening, ThreadFactory threads)
      throws VerbsException {
    this.channel = channel;
    this.listening = listening;
    address = requireNonNull(listening.localAddress());
    thread = threads.newThread(this::run);
    wakeUp = new EventFd(); // last, as only start and stop close it
  }

  /**
   * Begins to listen. The caller stops the agent.
   *
   * @param local an address of the chosen port
   * @param threads makes the thread of the agent
   * @throws VerbsException if no port, or another port, has the address
   */
  static CmAgent open(InetAddress local, PortInfo port, ThreadFactory threads) throws IOException {
    RdmaEventChannel channel = RdmaEventChannel.create();
    try {
      RdmaCmId listening = channel.createId(RdmaCmId.PortSpace.TCP);
      listen(listening, local, port);
      CmAgent agent = new CmAgent(channel, listening, threads);
      agent.start();
      return agent;
    } catch (VerbsException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  /** Starts the thread. If the system gives none, closes the descriptor that would wake it up. */
  private void start() throws VerbsException {
    try {
      thread.start();
    } catch (RuntimeException | Error e) {
      wakeUp.close();
      throw e;
    }
  }

  /**
   * Listens at another address, and sends requests from it. Does nothing if the address is the
   * same. Existing connections stay.
   *
   * @throws VerbsException as {@link #open}; nothing changes then
   */
  void moveTo(InetAddress local, PortInfo port) throws VerbsException {
    if (address.getAddress().equals(local)) {
      return;
    }
    RdmaCmId next = channel.createId(RdmaCmId.PortSpace.TCP);
    try {
      listen(next, local, port);
    } catch (VerbsException e) {
      submit(() -> close(next));
      throw e;
    }
    RdmaCmId former = listening;
    listening = next;
    address = requireNonNull(next.localAddress());
    submit(() -> close(former));
  }

  private static void listen(RdmaCmId id, InetAddress local, PortInfo port) throws VerbsException {
    id.bind(new InetSocketAddress(local, 0));
    requireSame(port, id);
    id.listen(BACKLOG);
  }

  private static void requireSame(PortInfo port, RdmaCmId bound) throws VerbsException {
    String device = bound.context().device().name();
    if (!device.equals(port.device()) || bound.portNum() != port.number()) {
      throw new VerbsException(
          "rdma_bind_addr(" + bound.localAddress() + ")",
          VerbsException.EINVAL,
          "the address belongs to port " + bound.portNum() + " of " + device + ", not to " + port);
    }
  }

  /** Address that receives the requests of peers. */
  InetSocketAddress address() {
    return address;
  }

  byte[] newToken() {
    byte[] token = new byte[CmAddress.TOKEN_BYTES];
    random.nextBytes(token);
    return token;
  }

  /** Passes requests for a queue pair to its handshake from now on. */
  void offer(int qpNumber, CmHandshake handshake) {
    offers.put(qpNumber, handshake);
  }

  void withdraw(int qpNumber, CmHandshake handshake) {
    offers.remove(qpNumber, handshake);
  }

  /** Tells the handshake when the connection ends. */
  void connected(RdmaCmId id, CmHandshake handshake) {
    connections.put(id, handshake);
  }

  /** Closes the id of a connection. */
  void release(RdmaCmId id) {
    connections.remove(id);
    submit(() -> close(id));
  }

  /**
   * Connects to a peer.
   *
   * @param what names both ends, for messages
   * @param ece options that are offered to the peer
   * @return the id, once the peer has accepted; {@link CmHandshake} completes the connection
   */
  CompletableFuture<RdmaCmId> connect(
      String what,
      InetSocketAddress peer,
      int trafficClass,
      RdmaConnParam param,
      IbvEce ece,
      long timeoutMs) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    Wish wish =
        new Wish(what, peer, trafficClass, param, ece, deadlineNanos, new CompletableFuture<>());
    connect(wish);
    return wish.result();
  }

  private void connect(Wish wish) {
    if (!submit(() -> begin(wish))) {
      callOff(wish);
    }
  }

  private static void callOff(Wish wish) {
    wish.fail(VerbsException.EINVAL, "the device is closed");
  }

  private void begin(Wish wish) {
    if (wish.result().isDone()) {
      return; // cancelled before its next attempt
    }
    try {
      CmAttempt attempt = new CmAttempt(wish, channel.createId(RdmaCmId.PortSpace.TCP));
      attempts.put(attempt.id(), attempt);
      attempt.begin(address.getAddress());
    } catch (VerbsException e) {
      wish.result().completeExceptionally(e);
    }
  }

  /** Makes the thread look for cancelled attempts. */
  void wakeUp() {
    submit(() -> {});
  }

  /**
   * @return false if the thread has ended
   */
  private boolean submit(Runnable task) {
    synchronized (this) {
      if (ended) {
        return false;
      }
      tasks.add(task);
    }
    try {
      wakeUp.signal();
    } catch (VerbsException e) {
      LOG.warn("Waking up the rdma_cm thread failed", e);
    }
    return true;
  }

  /**
   * Ends the thread, which closes all ids.
   *
   * @return true if it ended in time; otherwise it may still use the ids
   */
  boolean stop() {
    stopping = true;
    wakeUp();
    try {
      thread.join(STOP_TIMEOUT_MS);
      if (!thread.isAlive()) {
        wakeUp.close();
      }
    } catch (VerbsException e) {
      LOG.warn("Stopping rdma_cm at {} failed", address, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }

  private void run() {
    try {
      while (!stopping) {
        attempt(this::turn);
      }
    } finally {
      end();
    }
  }

  private void turn() throws VerbsException {
    FileDescriptors.awaitReadable(waitMs(), channel.fd(), wakeUp.fd());
    wakeUp.clear();
    runTasks(true);
    takeEvents();
    List.copyOf(attempts.values()).forEach(tried -> attempt(() -> dropIfOver(tried)));
  }

  private interface Step {
    void run() throws VerbsException;
  }

  /** Keeps an error of one connection or event away from the others. */
  private void attempt(Step step) {
    try {
      step.run();
    } catch (VerbsException | RuntimeException | Error e) {
      long now = System.nanoTime();
      if (errors++ == 0 || now - errorToldNanos >= TOLD_EVERY_NANOS) {
        errorToldNanos = now;
        LOG.warn("rdma_cm at {}: error {} since it started; it continues", address, errors, e);
      }
      LockSupport.parkNanos(PAUSE_AFTER_ERROR_NANOS);
    }
  }

  private long waitMs() {
    return attempts.values().stream().mapToLong(CmAttempt::leftMs).min().orElse(MAX_WAIT_MS);
  }

  private void runTasks(boolean more) {
    Queue<Runnable> taken;
    synchronized (this) {
      taken = tasks;
      tasks = new ArrayDeque<>();
      ended = !more;
    }
    taken.forEach(task -> attempt(task::run));
  }

  private void takeEvents() throws VerbsException {
    for (Optional<RdmaCmEvent> event = channel.getEvent();
        event.isPresent();
        event = channel.getEvent()) {
      RdmaCmEvent taken = event.get();
      taken.close();
      attempt(() -> handle(taken));
    }
  }

  private void handle(RdmaCmEvent event) {
    LOG.debug("{}", event);
    CmAttempt attempt = attempts.get(event.id());
    if (attempt != null) {
      attempt.proceed(event);
      dropIfOver(attempt);
      return;
    }
    switch (event.type().known().orElse(null)) {
      case CONNECT_REQUEST -> answer(event);
      case DISCONNECTED, CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL -> ended(event.id());
      case null, default -> {
        // Successes need no answer. Events of later releases do not concern this agent.
      }
    }
  }

  private void answer(RdmaCmEvent request) {
    ByteBuffer data = ByteBuffer.wrap(request.privateData());
    CmHandshake handshake =
        data.remaining() < CmAddress.REQUEST_BYTES ? null : offers.get(data.getInt());
    try {
      if (handshake != null) {
        byte[] token = new byte[CmAddress.TOKEN_BYTES];
        data.get(token);
        handshake.requested(request.id(), request.connParam().qpNum(), token);
        return;
      }
      tellRefusal(request.id(), "it names no queue pair of this process");
    } catch (VerbsException e) {
      tellRefusal(request.id(), e.getMessage());
    }
    refuse(request.id());
  }

  /** Limits how often refusals are logged: any host on the network can send requests. */
  private void tellRefusal(RdmaCmId id, String why) {
    refusals++;
    long now = System.nanoTime();
    if (refusals > 1 && now - refusalToldNanos < TOLD_EVERY_NANOS) {
      LOG.debug("Refused a connection request from {}: {}", id.peerAddress(), why);
      return;
    }
    refusalToldNanos = now;
    LOG.warn(
        "Refused a connection request from {}: {} ({} refused so far)",
        id.peerAddress(),
        why,
        refusals);
  }

  private static void refuse(RdmaCmId id) {
    try {
      id.reject(new byte[0]);
    } catch (VerbsException e) {
      LOG.debug("Refusing {} failed", id, e);
    }
    close(id);
  }

  private void ended(RdmaCmId id) {
    CmHandshake handshake = connections.remove(id);
    if (handshake != null) {
      handshake.ended(id);
    }
    try {
      id.disconnect();
    } catch (VerbsException e) {
      LOG.debug("{} is disconnected already", id, e);
    }
  }

  /** Drops an attempt that is over. The id of a successful one belongs to its queue pair. */
  private void dropIfOver(CmAttempt attempt) {
    if (attempt.isOver()) {
      attempts.remove(attempt.id());
      if (!attempt.isConnected()) {
        close(attempt.id());
      }
      if (attempt.isStale()) {
        CompletableFuture.delayedExecutor(STALE_PAUSE_MS, TimeUnit.MILLISECONDS)
            .execute(() -> connect(attempt.wish()));
      }
    }
  }

  private static void close(RdmaCmId id) {
    try {
      id.close();
    } catch (VerbsException e) {
      LOG.warn("Closing {} failed", id, e);
    }
  }

  private void end() {
    runTasks(false);
    attempts.values().forEach(attempt -> callOff(attempt.wish()));
    try {
      channel.close();
    } catch (VerbsException e) {
      LOG.warn("Closing rdma_cm at {} failed", address, e);
    }
  }
}
