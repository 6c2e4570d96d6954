// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.VerbsChild.Children;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.rdma.verbs.VerbsQueuePair.Handshake;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open device with its chosen port, and with a thread for its asynchronous events. {@link
 * VerbsProvider} opens it. Any thread; closed by the provider's caller. The context is closed last,
 * and only if the threads that use it have ended.
 */
final class VerbsDevice implements Device {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsDevice.class);
  private static final int PSN_MASK = 0xFFFFFF;

  /**
   * Stands for the device in the check that memory is not confined to one thread. Never started.
   */
  private final Thread anotherThread = Thread.ofPlatform().unstarted(() -> {});

  private final SecureRandom random = new SecureRandom();
  private final Children children = new Children();
  private final IbvContext context;
  private final CurrentPort port;
  private final DeviceAttributes attributes;
  private final int maxRetryCount;
  private final LeakTracker leaks;

  /** Held while the device is open, if processes spread over ports. */
  private final Optional<HostSlot> turn;

  private final AsyncEvents events;

  /** Null if rdma_cm is not used. */
  private final @Nullable CmAgent agent;

  private final LeakTracker.Handle leak;

  /** Reason why the device has failed; empty while it works. */
  private volatile String failure = "";

  private VerbsDevice(
      IbvContext context,
      CurrentPort port,
      @Nullable CmAgent agent,
      LeakTracker leaks,
      Optional<HostSlot> turn,
      Function<String, ThreadFactory> threads)
      throws VerbsException {
    this.context = context;
    this.port = port;
    this.agent = agent;
    this.leaks = leaks;
    this.turn = turn;
    DeviceLimits limits = new DeviceLimits(context, port.last().port().number());
    attributes = limits.read();
    maxRetryCount = limits.maxRetryCount();
    events = new AsyncEvents(this, context, threads.apply("sluice-verbs-events"));
    leak = leaks.opened("device", this);
  }

  /**
   * Opens the device on a context, which {@link #close} closes, or this method if it fails.
   *
   * @param local the address by which peers reach this process
   * @param turn number by which the port was chosen, if any; the device closes it
   * @param threads returns a factory of threads with a name
   */
  static VerbsDevice open(
      IbvContext context,
      CurrentPort port,
      InetAddress local,
      VerbsOptions options,
      Optional<HostSlot> turn,
      Function<String, ThreadFactory> threads)
      throws IOException {
    CmAgent agent = null;
    try {
      if (options.connect() == ConnectMode.CM) {
        // On RoCE the GID is the address. On InfiniBand it is not; there IP over InfiniBand has the
        // address.
        ChosenPort chosen = port.last();
        agent =
            CmAgent.open(
                chosen.port().isEthernet() ? chosen.gid().gid().toInetAddress() : local,
                chosen.port(),
                threads.apply("sluice-verbs-cm"));
      }
      VerbsDevice device = new VerbsDevice(context, port, agent, options.leaks(), turn, threads);
      device.start();
      return device;
    } catch (IOException | RuntimeException | Error e) {
      if (agent != null) {
        agent.stop();
      }
      context.close();
      throw e;
    }
  }

  private void start() throws VerbsException {
    try {
      events.start();
    } catch (VerbsException | RuntimeException | Error e) {
      leak.closed(); // the caller closes the context
      throw e;
    }
  }

  @Override
  public String providerName() {
    return VerbsProvider.NAME;
  }

  @Override
  public String name() {
    return port.last().port().device();
  }

  @Override
  public DeviceAttributes attributes() {
    return attributes;
  }

  @Override
  public Gid gid() {
    return port.last().gid().gid();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() throws VerbsException {
    return children.adopt(new VerbsProtectionDomain(this, context.allocPd()));
  }

  @Override
  public CompletionChannel createCompletionChannel() throws VerbsException {
    return children.adopt(VerbsCompletionChannel.open(this, context.createCompChannel()));
  }

  @Override
  public CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel)
      throws VerbsException {
    attributes.checkCompletionQueue(entries);
    VerbsCompletionChannel own = (VerbsCompletionChannel) channel;
    IbvCompChannel ibvChannel = own == null ? null : own.ibv();
    // Spreads queues over the vectors. Otherwise the interrupts of one processor would wake up all
    // processes of a machine.
    int vector = random.nextInt(Math.max(1, context.completionVectors()));
    IbvCq queue = context.createCq(entries, ibvChannel, vector);
    return children.adopt(new VerbsCompletionQueue(this, queue, own));
  }

  VerbsCompletionQueue own(CompletionQueue queue) throws VerbsException {
    if (queue instanceof VerbsCompletionQueue own && own.owner() == this) {
      return own;
    }
    throw new VerbsException(
        "ibv_create_qp", VerbsException.EINVAL, "the completion queue belongs to another device");
  }

  /** The port's values that queue pairs use and that peers are told. */
  CurrentPort port() {
    return port;
  }

  /** Called by the thread of the events. */
  void portChanged(String event) {
    port.update(event, this::listenAt);
  }

  /** On InfiniBand the address is the executor's own, so it does not change. */
  private void listenAt(ChosenPort next) throws VerbsException {
    if (agent != null && next.port().isEthernet()) {
      agent.moveTo(next.gid().gid().toInetAddress(), next.port());
    }
  }

  int maxRetryCount() {
    return maxRetryCount;
  }

  int newPsn() {
    return random.nextInt(PSN_MASK + 1);
  }

  Thread anotherThread() {
    return anotherThread;
  }

  LeakTracker leaks() {
    return leaks;
  }

  Handshake newHandshake(VerbsQueuePair queuePair, IbvQp ibv) {
    return agent == null
        ? new ControlHandshake(ibv, this)
        : new CmHandshake(queuePair, ibv, this, agent);
  }

  <T extends VerbsChild> T adopt(T child) throws VerbsException {
    return children.adopt(child);
  }

  void forget(VerbsChild child) {
    children.forget(child);
  }

  /**
   * Marks the device as failed: no more completions will arrive. Polling then fails with the
   * reason, and sleeping threads are woken up to poll. Only the first reason counts.
   */
  void fail(String reason) {
    synchronized (this) {
      if (hasFailed()) {
        return;
      }
      failure = reason;
    }
    LOG.debug("{} failed: {}", this, reason);
    open(VerbsCompletionQueue.class).forEach(queue -> queue.fail(reason));
    open(VerbsCompletionChannel.class).forEach(VerbsCompletionChannel::wakeUp);
  }

  boolean hasFailed() {
    return !failure.isEmpty();
  }

  /**
   * @return the port to connect through
   * @throws VerbsException EIO if the device has failed, ENETDOWN while its port is down
   */
  ChosenPort requirePort(String operation) throws VerbsException {
    if (hasFailed()) {
      throw new VerbsException(operation, VerbsException.EIO, failure);
    }
    return port.usable();
  }

  void closeChildren(Predicate<VerbsChild> which) {
    children.close(which);
  }

  /** Open objects of one kind, the oldest first. */
  <T extends VerbsChild> Stream<T> open(Class<T> kind) {
    return children.select(kind::isInstance).stream().map(kind::cast);
  }

  @Override
  public void close() {
    if (!children.close()) {
      return;
    }
    boolean unused = events.stop();
    closeChildren(child -> true);
    if (agent != null) {
      unused &= agent.stop();
    }
    if (!unused) {
      LOG.error("An event thread of {} did not end in time: the device stays open", this);
      return;
    }
    try {
      context.close();
    } catch (VerbsException e) {
      LOG.warn("Closing {} failed", this, e);
    }
    turn.ifPresent(HostSlot::close);
    leak.closed();
  }

  @Override
  public String toString() {
    return port.last().port() + " at " + gid();
  }

  /** Asks a device for its limits, once when a {@link VerbsDevice} is opened. */
  private record DeviceLimits(IbvContext context, int port) {
    /** Maximum of a queue pair's 8-bit attribute. */
    private static final int MAX_RD_ATOMIC = 255;

    /** RXE_VENDOR_ID of the kernel, which is no IEEE organisation. */
    private static final int SOFT_ROCE_VENDOR = 0xFFFFFF;

    DeviceAttributes read() throws VerbsException {
      IbvDeviceAttr device = context.queryDevice();
      long maxMessageSize = context.queryPort(port).maxMsgSz();
      return DeviceAttributes.NONE.with(
          limits -> {
            limits.maxQueuePairs = device.maxQp();
            limits.maxQueuePairWr = device.maxQpWr();
            limits.maxCompletionQueueEntries = device.maxCqe();
            limits.maxQueuePairRdAtomic = Math.min(device.maxQpRdAtom(), MAX_RD_ATOMIC);
            limits.maxQueuePairInitRdAtomic = Math.min(device.maxQpInitRdAtom(), MAX_RD_ATOMIC);
            limits.maxMessageSize = maxMessageSize;
          });
    }

    /**
     * Maximum number of retries of a request. The kernel's soft-RoCE device takes 7 as infinite,
     * and would never notice a dead peer.
     */
    int maxRetryCount() throws VerbsException {
      return context.queryDevice().vendorId() == SOFT_ROCE_VENDOR ? 6 : 7;
    }
  }
}
