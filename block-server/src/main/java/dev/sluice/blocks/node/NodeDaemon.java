package dev.sluice.blocks.node;

import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.blocks.wire.NodeMessages.Enter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's block server: keeps the map outputs that executors hand over, for as long as their
 * applications want them, and serves them. {@link NodeMain} starts it as a process, and tests in
 * theirs; whoever starts it closes it, which leaves the folders for the next start.
 *
 * <p>Executors are let in by {@link SocketServer}; each application is a {@link Tenant}, and waits
 * for its own disks alone. The thread {@code sluice-node} waits for none: it sees who has not given
 * a sign.
 */
public final class NodeDaemon implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDaemon.class);
  private static final long MIN_TICK_MS = 100;
  private static final long MAX_TICK_MS = 30_000;

  private final NodeOptions options;
  private final NodeDevice device;
  private final String id;
  private final NodeFolders folders;
  private final Tenants tenants;
  private final Admission admission;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("sluice-node").factory());

  /** In which something is being deleted. */
  private final Set<Path> tidying = ConcurrentHashMap.newKeySet();

  /** What is to be closed before the applications. */
  private final StartedParts doors = new StartedParts();

  /** That an application was given last. */
  private final AtomicInteger lastPort = new AtomicInteger();

  private long lastTidyNanos = System.nanoTime();
  private boolean closed;

  private NodeDaemon(NodeOptions options) throws IOException {
    this.options = options;
    device = NodeDevice.tryOut(options);
    id = "node-" + options.host() + "-" + ApplicationState.random();
    folders = NodeFolders.open(options.directories());
    tenants = new Tenants(options, folders, this::serve);
    admission = new Admission(options, tenants::served);
  }

  /**
   * Reads the folders, serves what is in them, and lets executors in.
   *
   * @throws IOException when the folders or the socket are another daemon's, or cannot be had
   */
  public static NodeDaemon start(NodeOptions options) throws IOException {
    NodeDaemon daemon = new NodeDaemon(options);
    boolean started = false;
    try {
      daemon.open();
      started = true;
      return daemon;
    } finally {
      if (!started) {
        daemon.close();
      }
    }
  }

  private NodeApplication serve(ApplicationState state, List<ApplicationFolder> kept, Runnable end)
      throws IOException {
    int[] ports =
        options.ports().inTurn(state.port(), lastPort.get(), tenants.portsOfOthers(state.name()));
    ApplicationPort port = new ApplicationPort(options.host(), ports, state);
    NodeId nodeId = new NodeId(id, state.since());
    NodeApplication served = new NodeApplication(device, nodeId, port, kept, admission, end);
    lastPort.set(served.state().port());
    return served;
  }

  private synchronized void open() throws IOException {
    tenants.open(folders.read());
    doors.started(new SocketServer(options, this::enter, timer));
    if (options.http().isPresent()) {
      doors.started(new NodePages(options.http().get(), this::applications, admission::isDraining));
    }
    long tickMs = Math.clamp(options.expireAfter().toMillis() / 10, MIN_TICK_MS, MAX_TICK_MS);
    timer.scheduleWithFixedDelay(this::tidy, tickMs, tickMs, TimeUnit.MILLISECONDS);
    Thread.ofPlatform().daemon().name("sluice-node-left").start(folders::deleteLeftOver);
    LOG.info(
        "{} keeps map outputs below {} for executors that come to {}; {} applications from before",
        id,
        options.directories(),
        options.socket(),
        applications().size());
  }

  private NodeApplication enter(Enter enter) throws IOException {
    admission.enter();
    return tenants.enter(enter);
  }

  private void tidy() {
    try {
      forgiveSilenceWhileStopped();
      tenants.tidy();
      if (options.deletesDeadExecutors()) {
        folders.roots().forEach(this::deleteDeadExecutors);
      }
    } catch (RuntimeException e) {
      LOG.error("What has ended is still here", e); // The next time may do better.
    } catch (Error e) {
      Thread thread = Thread.currentThread(); // whose executor would keep it to itself
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  private void deleteDeadExecutors(Path root) {
    if (tidying.add(root)) {
      TidyThread.start(
          "executors beside " + root,
          () -> {
            try {
              folders.deleteDeadExecutors(root);
            } finally {
              tidying.remove(root);
            }
          });
    }
  }

  /** Nobody was heard while this process was stopped itself, as a machine is when it is moved. */
  private void forgiveSilenceWhileStopped() {
    long nowNanos = System.nanoTime();
    if (nowNanos - lastTidyNanos >= options.expireAfter().toNanos() / 2) {
      applications().forEach(NodeApplication::sign);
    }
    lastTidyNanos = nowNanos;
  }

  Collection<NodeApplication> applications() {
    return tenants.served();
  }

  /**
   * Takes nothing any more, and serves what is there until it is all over and deleted, or this time
   * has passed.
   */
  void drain(Duration timeout) {
    admission.stop();
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    try {
      while (!(tenants.isEmpty() && folders.leftOver().isEmpty())
          && System.nanoTime() - deadlineNanos < 0) {
        Thread.sleep(MIN_TICK_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Lets nobody in, then serves nothing any more; what was handed over stays. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    doors.close();
    timer.shutdown();
    tenants.close();
    folders.close();
  }
}
