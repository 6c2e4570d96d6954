// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.file.ReadAhead;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.EventLoop.EventLoops;
import dev.sluice.rdma.soft.FaultPlan.Fault;
import dev.sluice.rdma.soft.Link.Hello;
import dev.sluice.rdma.soft.SoftAddress.Token;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.soft.SoftRegion.KeySequence;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A NIC in software: event loops, one of them with a listening socket, and the objects created on
 * the device. {@link SoftProvider} opens it. Any thread; closed by the provider's caller. Objects
 * are closed before the threads that serve them.
 */
final class SoftDevice implements Device {
  private static final Logger LOG = LoggerFactory.getLogger(SoftDevice.class);
  private static final int QP_NUMBER_MASK = 0xFFFFFF;

  /**
   * Limits of a small NIC, but with more READs in flight: each round trip wakes threads on both
   * sides, and a READ in flight costs no more than one that waits.
   */
  private static final DeviceAttributes LIMITS =
      DeviceAttributes.NONE.with(
          nic -> {
            nic.maxQueuePairs = QP_NUMBER_MASK + 1;
            nic.maxQueuePairWr = 16_384;
            nic.maxCompletionQueueEntries = 1 << 20;
            nic.maxQueuePairRdAtomic = 128;
            nic.maxQueuePairInitRdAtomic = 128;
            nic.maxMessageSize = 1L << 30;
          });

  /** Pause before a deadline is handled again whose handling failed. */
  private static final long EXPIRE_AGAIN_NANOS = 100_000_000L;

  /** First address of registered files. No process has memory there, on any architecture. */
  private static final long FIRST_FILE_ADDRESS = 1L << 62;

  /**
   * Gap between the addresses of two files, so that bytes beyond the end of one are not in the
   * next.
   */
  private static final long FILE_GAP_BYTES = 1 << 20;

  private final SecureRandom random = new SecureRandom();
  private final KeySequence keys = new KeySequence(random);
  private final Children children = new Children();
  private final ConcurrentMap<Integer, SoftQueuePair> queuePairs = new ConcurrentHashMap<>();
  private final SoftOptions options;
  private final FaultPlan.Sequence faults;
  private final Gid gid;
  private final EventLoops loops;
  private final Acceptor acceptor;
  private final LeakTracker.Handle leak;
  private final ReadAhead readAhead = new ReadAhead(System::nanoTime);
  private final DiskReaders diskReaders;
  private final AtomicLong nextFileAddress = new AtomicLong(FIRST_FILE_ADDRESS);

  /** Changed only by factories that {@link #children} runs, under the lock there. */
  private int nextQpNumber = random.nextInt(QP_NUMBER_MASK + 1);

  SoftDevice(InetAddress localAddress, SoftOptions options) throws IOException {
    this(localAddress, options, DaemonThreads.numbered("sluice-soft-io-"));
  }

  /**
   * @param threads makes the threads of the event loops
   */
  SoftDevice(InetAddress localAddress, SoftOptions options, ThreadFactory threads)
      throws IOException {
    this.options = options;
    faults = options.faults().start();
    gid = Gid.of(localAddress);
    diskReaders = new DiskReaders(options.maxDiskReadMs());
    loops = new EventLoops(this::expire, options.leaks(), threads);
    try {
      acceptor = new Acceptor(loops.first(), bindAddress(localAddress), options, this::introduce);
    } catch (IOException | RuntimeException | Error e) {
      loops.close();
      throw e;
    }
    leak = options.leaks().opened("device", this);
    try {
      loops.start();
    } catch (RuntimeException | Error e) { // such as no further thread
      close();
      throw e;
    }
    LOG.info("{} listens on port {}", this, acceptor.port());
  }

  /** With address translation, the address that peers use is not one of this machine's. */
  private static InetAddress bindAddress(InetAddress localAddress) throws IOException {
    boolean translated = NetworkInterface.getByInetAddress(localAddress) == null;
    return translated ? new InetSocketAddress(0).getAddress() : localAddress;
  }

  @Override
  public String providerName() {
    return SoftProvider.NAME;
  }

  @Override
  public String name() {
    return "soft0";
  }

  @Override
  public DeviceAttributes attributes() {
    return LIMITS;
  }

  @Override
  public Gid gid() {
    return gid;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() throws VerbsException {
    return children.adopt(() -> new SoftProtectionDomain(this, options.leaks()));
  }

  @Override
  public CompletionChannel createCompletionChannel() throws VerbsException {
    return children.adopt(() -> new SoftCompletionChannel(this, options.leaks()));
  }

  @Override
  public CompletionQueue createCompletionQueue(int entries, @Nullable CompletionChannel channel)
      throws VerbsException {
    LIMITS.checkCompletionQueue(entries);
    return children.adopt(
        () ->
            new SoftCompletionQueue(
                this, entries, (SoftCompletionChannel) channel, options.leaks()));
  }

  QueuePair createQueuePair(SoftProtectionDomain domain, SoftCompletionQueue completions, int depth)
      throws VerbsException {
    if (depth < 0 || depth > LIMITS.maxQueuePairWr()) {
      throw new VerbsException(
          "ibv_create_qp(" + depth + ")",
          VerbsException.EINVAL,
          "the depth must be 0 to " + LIMITS.maxQueuePairWr() + " work requests");
    }
    return children.adopt(
        () -> {
          completions.attach();
          SoftQueuePair queuePair =
              new SoftQueuePair(
                  domain, loops.next(), completions, depth, freeQpNumber(), options.leaks());
          queuePairs.put(queuePair.qpNumber(), queuePair);
          return queuePair;
        });
  }

  private int freeQpNumber() {
    do {
      nextQpNumber = (nextQpNumber + 1) & QP_NUMBER_MASK;
    } while (queuePairs.containsKey(nextQpNumber));
    return nextQpNumber;
  }

  SoftCompletionQueue own(CompletionQueue queue) throws VerbsException {
    if (queue instanceof SoftCompletionQueue soft && soft.belongsTo(this)) {
      return soft;
    }
    throw new VerbsException(
        "ibv_create_qp", VerbsException.EINVAL, "the completion queue belongs to another device");
  }

  <T extends AutoCloseable> T adopt(Children.Factory<T> factory) throws VerbsException {
    return children.adopt(factory);
  }

  void forget(AutoCloseable child) {
    children.forget(child);
    if (child instanceof SoftQueuePair queuePair) {
      queuePairs.remove(queuePair.qpNumber(), queuePair);
    }
  }

  void visitQueuePairs(SoftProtectionDomain domain, Consumer<SoftQueuePair> visitor) {
    for (SoftQueuePair queuePair : queuePairs.values()) {
      if (queuePair.domain() == domain) {
        visitor.accept(queuePair);
      }
    }
  }

  SoftAddress newAddress(int qpNumber) {
    return new SoftAddress(gid, acceptor.port(), qpNumber, Token.random(random));
  }

  int nextKey() {
    return keys.next();
  }

  /** Reserves addresses that no other file on this device has or will have. */
  long nextFileAddress(long bytes) {
    return nextFileAddress.getAndAdd(bytes + FILE_GAP_BYTES);
  }

  /** Memory for files that are read in small pieces. */
  ReadAhead readAhead() {
    return readAhead;
  }

  DiskReaders diskReaders() {
    return diskReaders;
  }

  Fault nextFault(long length) {
    return faults.next(length);
  }

  Thread ioThread() {
    return loops.first().thread();
  }

  /** Hands a connection over to the loop of its queue pair. */
  private void introduce(Hello hello, SelectionKey key) {
    SoftQueuePair queuePair = queuePairs.get(hello.to());
    if (queuePair == null) {
      LOG.debug("A peer asks for QP 0x{}, which no longer exists", Integer.toHexString(hello.to()));
      Sockets.close(key.channel());
    } else if (queuePair.loop() == loops.first()) {
      queuePair.introduce(hello, key);
    } else {
      key.cancel();
      queuePair.loop().execute(() -> introduce(hello, (SocketChannel) key.channel(), queuePair));
    }
  }

  private static void introduce(Hello hello, SocketChannel channel, SoftQueuePair queuePair) {
    try {
      queuePair.introduce(hello, channel.register(queuePair.loop().selector(), 0));
    } catch (IOException e) {
      LOG.debug("{}: its peer has disconnected", queuePair, e);
      Sockets.close(channel);
    }
  }

  /** Closes a connection that a queue pair refuses. Any thread. */
  void refuse(SelectionKey key, SoftQueuePair queuePair, String reason) {
    acceptor.refuse(key, queuePair, reason);
  }

  private long expire(EventLoop loop, long now) {
    long next = EventLoop.NEVER;
    if (loop == loops.first()) {
      next = expire(acceptor, acceptor::expire, now);
    }
    for (SoftQueuePair queuePair : queuePairs.values()) {
      if (queuePair.loop() == loop) {
        next = Math.min(next, expire(queuePair, queuePair::expire, now));
      }
    }
    return next;
  }

  /** Handles the deadlines of one owner. A failure does not affect other owners. */
  private static long expire(Object owner, LongUnaryOperator timer, long now) {
    try {
      return timer.applyAsLong(now);
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "{}: handling its deadline failed", owner, e);
      return now + EXPIRE_AGAIN_NANOS;
    }
  }

  void closeChildren(Predicate<AutoCloseable> which) {
    for (AutoCloseable child : children.youngestFirst(which)) {
      try {
        child.close();
      } catch (Exception | Error e) {
        TaskFailures.log(LOG, "Closing {} failed", child, e);
      }
    }
  }

  @Override
  public void close() {
    if (!children.close()) {
      return;
    }
    closeChildren(child -> true);
    diskReaders.close();
    loops.close();
    acceptor.close();
    leak.closed();
  }

  @Override
  public String toString() {
    return name() + " at " + gid;
  }
}
