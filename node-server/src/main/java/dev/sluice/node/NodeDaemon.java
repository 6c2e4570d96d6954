// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.conf.Setting;
import dev.sluice.blocks.handover.ApplicationFolder;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.node.JobFile.MapReduceJob;
import dev.sluice.node.StateFile.ApplicationState;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node daemon: takes the map outputs that executors hand over, serves them, and keeps them until
 * their shuffles or applications are over. {@link NodeMain} starts it as a process, tests start it
 * in theirs. The starter closes it, which leaves the folders for the next start.
 *
 * <p>{@link SocketServer} lets executors in. Each application has an {@link Application}, which
 * waits only for its own disks. The thread {@code sluice-timer} never waits for a disk; it looks
 * for applications without a sign of life, and ends leases.
 */
public final class NodeDaemon implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDaemon.class);

  /**
   * Limits of the interval of {@link #tidy}, a tenth of the time that an application may be silent.
   */
  private static final long MIN_TICK_MS = 100;

  private static final long MAX_TICK_MS = 30_000;

  private final NodeOptions options;
  private final NodeDevice device;
  private final String id;
  private final NodeFolders folders;
  private final NodeJobs jobs;
  private final Applications applications;
  private final ScheduledExecutorService timer = DaemonThreads.timer();

  /** Roots in and next to which folders of ended jobs and dead executors are being deleted. */
  private final Set<Path> tidying = ConcurrentHashMap.newKeySet();

  /** Parts with an address, which are closed before the applications. */
  private final StartedParts listeners = new StartedParts();

  /**
   * A part that listens at an address of its own, without which the daemon works.
   *
   * @param served its service in words, with a verb
   * @param address setting of its address
   */
  private record Listener(String served, Setting<?> address, Opener opener) {
    interface Opener {
      /**
       * @throws IOException if the address cannot be bound
       */
      AutoCloseable open() throws IOException;
    }
  }

  /** Listeners that could not be opened yet, with the reasons, which the pages show. */
  private final Map<Listener, String> unbound = new ConcurrentHashMap<>();

  /** Port that was given to an application of Spark last. */
  private final AtomicInteger lastPort = new AtomicInteger();

  /** Used by the timer's thread only. */
  private long lastTidyNanos = System.nanoTime();

  /** Written with the lock held. */
  private volatile boolean closed;

  private NodeDaemon(NodeOptions options) throws IOException {
    this.options = options;
    device = NodeDevice.tryOut(options);
    id = "node-" + options.host() + "-" + ApplicationState.random();
    folders = NodeFolders.open(options.get(NodeSettings.DIRECTORIES));
    jobs = new NodeJobs(folders);
    applications = new Applications(options, folders, this::serve);
  }

  /**
   * Reads the folders, serves the map outputs in them, and lets executors in.
   *
   * @throws IOException if the folders or the socket belong to another daemon, or cannot be used
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

  private ServedApplication serve(
      ApplicationState state, List<ApplicationFolder> kept, Runnable end) throws IOException {
    NodeId nodeId = new NodeId(id, state.since());
    MapReduceJob job = state.job();
    if (job != null) {
      int port =
          options
              .get(NodeSettings.MAPREDUCE_PORT)
              .orElseThrow(
                  () -> new IOException(NodeSettings.MAPREDUCE_PORT.key() + " is not set"));
      return new JobApplication(
          device,
          nodeId,
          options.host(),
          port,
          state,
          options.get(NodeSettings.DIRECTORIES).stream().map(Path::toAbsolutePath).toList(),
          folders::answers,
          job,
          timer);
    }
    int[] ports =
        options
            .get(NodeSettings.PORTS)
            .inTurn(state.port(), lastPort.get(), applications.portsOfOthers(state.name()));
    ApplicationPort port = new ApplicationPort(options.host(), ports, state);
    SparkApplication served = new SparkApplication(device, nodeId, port, store(kept), end, timer);
    lastPort.set(served.port());
    return served;
  }

  private ApplicationStore store(List<ApplicationFolder> kept) {
    return new ApplicationStore(
        kept, applications.admission(), options.get(NodeSettings.EXPIRE_AFTER));
  }

  private NodePages openPages(InetSocketAddress address) throws IOException {
    return new NodePages(
        address, this::applications, applications.admission()::isDraining, this::unbound);
  }

  /** Returns the reasons why addresses are not bound, by their settings. */
  private Map<String, String> unbound() {
    return unbound.entrySet().stream()
        .collect(Collectors.toMap(each -> each.getKey().address().key(), Map.Entry::getValue));
  }

  private synchronized void open() throws IOException {
    applications.open(folders.read());
    listeners.started(
        new SocketServer(
            options,
            applications,
            Thread.ofPlatform().daemon().name("sluice-node-executor").factory()));
    options
        .get(NodeSettings.HTTP)
        .ifPresent(
            address ->
                listen(
                    new Listener(
                        "Metrics and health are", NodeSettings.HTTP, () -> openPages(address)),
                    true));
    options
        .get(NodeSettings.MAPREDUCE_PORT)
        .ifPresent(
            port ->
                listen(
                    new Listener(
                        "MapReduce jobs are",
                        NodeSettings.MAPREDUCE_PORT,
                        () -> new JobPort(options.host(), port, jobs::find, applications)),
                    true));
    long tickMs =
        Math.clamp(
            options.get(NodeSettings.EXPIRE_AFTER).toMillis() / 10, MIN_TICK_MS, MAX_TICK_MS);
    timer.scheduleWithFixedDelay(this::tidy, tickMs, tickMs, TimeUnit.MILLISECONDS);
    NodeDisks.start(folders::deleteLeftOver);
    LOG.info(
        "{} keeps map outputs below {}, accepts executors at {} and resumes {} applications",
        id,
        options.get(NodeSettings.DIRECTORIES),
        options.get(NodeSettings.SOCKET),
        applications().size());
  }

  /** Opens a listener. If its address cannot be bound, the next tick tries again. */
  private synchronized void listen(Listener listener, boolean isFirst) {
    if (closed) {
      return;
    }
    try {
      listeners.started(listener.opener().open());
      unbound.remove(listener);
      if (!isFirst) {
        LOG.info("{} served now", listener.served());
      }
    } catch (IOException e) {
      unbound.put(listener, String.valueOf(e.getMessage()));
      if (isFirst) {
        LOG.warn(
            "{} not served, because the address cannot be bound ({}). Everything else is served."
                + " The daemon tries again within {} s; set {} to use another address",
            listener.served(),
            e.getMessage(),
            TimeUnit.MILLISECONDS.toSeconds(MAX_TICK_MS),
            listener.address().key());
      }
    }
  }

  private void tidy() {
    if (closed) { // Its lock is held until all applications are closed.
      return;
    }
    try {
      unbound.keySet().forEach(each -> listen(each, false));
      forgiveSilenceWhileStopped();
      applications.tidy();
      folders.roots().forEach(this::tidy);
    } catch (RuntimeException e) {
      LOG.error("Periodic clean-up failed; trying again", e); // The next tick may do better.
    } catch (Error e) {
      Thread thread = Thread.currentThread(); // its executor would hide the Error
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  private void tidy(Path root) {
    if (tidying.add(root)) {
      TidyThread.start(
          "ended executors and jobs in and next to " + root,
          () -> {
            try {
              jobs.deleteEnded(root, applications::isKnown, options.get(NodeSettings.EXPIRE_AFTER));
              if (options.get(NodeSettings.DELETE_DEAD)) {
                folders.deleteDeadExecutors(root);
              }
            } finally {
              tidying.remove(root);
            }
          });
    }
  }

  /** Treats all applications as alive after a pause of this process, as when its machine moves. */
  private void forgiveSilenceWhileStopped() {
    long nowNanos = System.nanoTime();
    if (nowNanos - lastTidyNanos >= options.get(NodeSettings.EXPIRE_AFTER).toNanos() / 2) {
      applications().forEach(ServedApplication::sign);
    }
    lastTidyNanos = nowNanos;
  }

  Collection<ServedApplication> applications() {
    return applications.served();
  }

  /**
   * Lets no new application in. Serves the others until all are over and deleted, or this time has
   * passed.
   */
  void drain(Duration timeout) {
    applications.admission().stop();
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    try {
      while (!(applications.isEmpty() && folders.leftOver().isEmpty())
          && System.nanoTime() - deadlineNanos < 0) {
        Thread.sleep(MIN_TICK_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Lets no executor in, then stops serving. Map outputs stay. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    listeners.close();
    applications.close();
    timer.shutdown();
    folders.close();
  }

  /**
   * Deletes files of ended applications and executors. {@link Application} and {@link NodeDaemon}
   * start tasks on any thread, and do not wait for them. Each task has a daemon thread of its own,
   * as disks may hang. Tasks may overlap: each caller guards its own files.
   */
  static final class TidyThread {
    private static final Logger LOG = LoggerFactory.getLogger(TidyThread.class);

    private TidyThread() {}

    interface Task {
      void run() throws IOException;
    }

    /**
     * Starts a task, and does not wait for it. A failure is logged, and the rest of the files stays
     * for now; an Error goes to the process's handler.
     *
     * @param whose owner of the files, in the words of the message
     */
    static void start(String whose, Task task) {
      NodeDisks.start(
          () -> {
            try {
              task.run();
            } catch (IOException | RuntimeException e) {
              LOG.error("Cleaning up after {} failed; its files stay for now", whose, e);
            }
          });
    }
  }
}
