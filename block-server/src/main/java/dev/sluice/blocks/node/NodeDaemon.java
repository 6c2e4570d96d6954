package dev.sluice.blocks.node;

import dev.sluice.blocks.wire.NodeMessages.Enter;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's block server: keeps the map outputs that executors hand over, for as long as their
 * applications want them, and serves them. {@link NodeMain} starts it as a process, and tests in
 * theirs; whoever starts it closes it, which leaves the folders for the next start.
 *
 * <p>Executors are let in by {@link SocketServer}, each application is a {@link NodeApplication}.
 * What nobody has given a sign of goes by itself, on the thread {@code sluice-node}.
 */
public final class NodeDaemon implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeDaemon.class);
  private static final long MIN_TICK_MS = 100;
  private static final long MAX_TICK_MS = 30_000;

  private final NodeOptions options;
  private final NodeDevice device;
  private final String id;
  private final NodeFolders folders;
  private final Map<String, NodeApplication> applications = new ConcurrentSkipListMap<>();

  /** Of those that could not be opened at the start; guarded by this. */
  private final Map<String, ApplicationState> unopened = new TreeMap<>();

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("sluice-node").factory());

  /** What is to be closed before the applications, what was started last first. */
  private final List<AutoCloseable> doors = new ArrayList<>();

  private final long startedNanos = System.nanoTime();
  private long lastTidyNanos = startedNanos;
  private long lastScanNanos = startedNanos;
  private boolean closed;

  private NodeDaemon(NodeOptions options) throws IOException {
    this.options = options;
    device = NodeDevice.tryOut(options);
    byte[] random = new byte[Long.BYTES];
    new SecureRandom().nextBytes(random);
    id = "node-" + options.host() + "-" + HexFormat.of().formatHex(random);
    folders = NodeFolders.open(options.directories());
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

  private synchronized void open() throws IOException {
    for (ApplicationState state : folders.read()) {
      try {
        open(state);
      } catch (IOException | RuntimeException e) {
        unopened.put(state.name(), state);
        LOG.error("Application {} is not served until one of its executors comes", state, e);
      }
    }
    doors.addFirst(new SocketServer(options.socket(), this::enter, thread));
    if (options.http().isPresent()) {
      doors.addFirst(new NodePages(options.http().get(), this::applications));
    }
    long tickMs = Math.clamp(options.expireAfter().toMillis() / 10, MIN_TICK_MS, MAX_TICK_MS);
    thread.scheduleWithFixedDelay(this::tidy, tickMs, tickMs, TimeUnit.MILLISECONDS);
    LOG.info(
        "{} keeps map outputs below {} for executors that come to {}; {} applications from before",
        id,
        options.directories(),
        options.socket(),
        applications.size());
  }

  private NodeApplication open(ApplicationState state) throws IOException {
    NodeApplication application =
        new NodeApplication(
            device, id, state, folders.create(state.name()), () -> endSoon(state.name()));
    boolean written = false;
    try {
      folders.write(application.state());
      written = true;
    } finally {
      if (!written) {
        application.close();
      }
    }
    applications.put(state.name(), application);
    LOG.info("Application {} is served", application.state());
    return application;
  }

  /**
   * Lets an executor in.
   *
   * @throws IOException when it is refused, with the reason
   */
  private synchronized NodeApplication enter(Enter enter) throws IOException {
    String name = enter.executor().application();
    NodeApplication known = applications.get(name);
    if (known == null) {
      known = openFor(name, enter.secret());
    }
    if (!known.hasSecret(enter.secret())) {
      throw new IOException("that is not the secret of application " + name);
    }
    return known;
  }

  private NodeApplication openFor(String name, String secret) throws IOException {
    if (closed) {
      throw new IOException("the node's block server stops");
    }
    if (!NodeFolders.isName(name)) {
      throw new IOException("no folder can be called as application " + name);
    }
    if (applications.size() >= options.maxApplications()) {
      throw new IOException(
          "%d applications are here already (%s)"
              .formatted(applications.size(), NodeSetting.MAX_APPLICATIONS.key()));
    }
    ApplicationState before = unopened.get(name);
    NodeApplication opened = open(before == null ? new ApplicationState(name, secret, 0) : before);
    unopened.remove(name);
    return opened;
  }

  private void tidy() {
    try {
      forgiveSilenceWhileStopped();
      for (NodeApplication application : applications.values()) {
        if (application.silentNanos() >= options.expireAfter().toNanos()) {
          LOG.warn("Nobody has given a sign of application {}", application.name());
          end(application.name());
        }
      }
      removeUnopened();
      if (System.nanoTime() - lastScanNanos >= options.expireAfter().toNanos()) {
        lastScanNanos = System.nanoTime();
        for (NodeApplication application : applications.values()) {
          application.scan();
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("What has ended is still here", e); // The next time may do better.
    }
  }

  /** Nobody was heard while this process was stopped itself, as a machine is when it is moved. */
  private void forgiveSilenceWhileStopped() {
    long nowNanos = System.nanoTime();
    if (nowNanos - lastTidyNanos >= options.expireAfter().toNanos() / 2) {
      applications.values().forEach(NodeApplication::sign);
    }
    lastTidyNanos = nowNanos;
  }

  /** Nobody came for them either. */
  private void removeUnopened() throws IOException {
    if (System.nanoTime() - startedNanos < options.expireAfter().toNanos()) {
      return;
    }
    List<Path> removed = new ArrayList<>();
    synchronized (this) {
      for (String name : unopened.keySet()) {
        LOG.warn("Application {} could not be served, and nobody has come for it", name);
        removed.addAll(folders.remove(name));
      }
      unopened.clear();
    }
    for (Path folder : removed) {
      FileTree.delete(folder);
    }
  }

  private void endSoon(String name) {
    try {
      thread.execute(
          () -> {
            try {
              end(name);
            } catch (IOException | RuntimeException e) {
              LOG.error("Application {} is still here", name, e);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("{} stays for the next start, as the daemon stops", name, e);
    }
  }

  /** Removes all of an application. */
  private void end(String name) throws IOException {
    List<Path> removed;
    synchronized (this) {
      NodeApplication application = applications.remove(name);
      if (application == null) {
        return;
      }
      application.close();
      removed = folders.remove(name);
    }
    for (Path folder : removed) {
      FileTree.delete(folder);
    }
    LOG.info("Application {} is removed", name);
  }

  Collection<NodeApplication> applications() {
    return applications.values();
  }

  /** Lets nobody in, then serves nothing any more; what was handed over stays. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (AutoCloseable door : doors) {
      try {
        door.close();
      } catch (Exception e) {
        LOG.warn("Closing {} failed", door.getClass().getSimpleName(), e);
      }
    }
    thread.shutdown();
    applications.values().forEach(NodeApplication::close);
    folders.close();
  }
}
