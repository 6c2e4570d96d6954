// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.wire.NodeMessages.RegisterExecutor;
import dev.sluice.node.StateFile.ApplicationState;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applications that a node knows, by name. The {@link NodeDaemon} makes and closes it. Threads of
 * executors' connections enter, the daemon's timer tidies, and requests for the node's pages list.
 * Any thread. The lock keeps the limit of applications and is never held while a disk is waited
 * for: only an {@link Application} does that.
 */
final class Applications implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Applications.class);

  /** Limit of {@link #over}. */
  private static final int MAX_REMEMBERED = 10_000;

  /** Time for all applications together; one that is not open by then opens later. */
  private static final long OPEN_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final NodeOptions options;
  private final NodeFolders folders;
  private final Application.Opener opener;
  private final AdmissionControl admission;

  /** After the start added to with the lock held, so that the limit of applications holds. */
  private final Map<String, Application> byName = new ConcurrentSkipListMap<>();

  /** Names of applications that are over, but whose late tasks may still come; guarded by this. */
  private final SequencedSet<String> over = new LinkedHashSet<>();

  /** Guarded by this. */
  private boolean closed;

  Applications(NodeOptions options, NodeFolders folders, Application.Opener opener) {
    this.options = options;
    this.folders = folders;
    this.opener = opener;
    this.admission = new AdmissionControl(options, this::served);
  }

  /** Admits applications, executors and map outputs. */
  AdmissionControl admission() {
    return admission;
  }

  /**
   * Opens the applications of an earlier run, each on its own thread. Waits for them a short time.
   */
  void open(List<ApplicationState> states) {
    List<Application> before =
        states.stream().map(this::application).toList(); // makes all ports known first
    List<Thread> opening =
        before.stream().map(application -> NodeDisks.start(() -> open(application))).toList();
    join(opening, OPEN_TIMEOUT_NANOS);
  }

  private static void open(Application application) {
    try {
      application.open();
    } catch (IOException | RuntimeException e) {
      LOG.error(
          "Cannot serve application {}; trying again when one of its processes connects",
          application.state(),
          e);
    }
  }

  private static void join(List<Thread> threads, long timeoutNanos) {
    long deadlineNanos = System.nanoTime() + timeoutNanos;
    try {
      for (Thread thread : threads) {
        thread.join(Duration.ofNanos(Math.max(deadlineNanos - System.nanoTime(), 0)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Lets an executor in.
   *
   * @param uid its user; null for the daemon's own
   * @throws IOException if it is refused, with the reason
   */
  SparkApplication enter(RegisterExecutor enter, @Nullable Integer uid) throws IOException {
    String name = enter.executor().application();
    if (JobFile.isName(name)) { // before a first state exists, whose secret would be the executor's
      throw new IOException(name + " is a MapReduce job, which has no executors");
    }
    ApplicationState first = ApplicationState.first(name, enter.secret()).of(uid);
    SparkApplication spark = (SparkApplication) open(first);
    admission.enter(spark.directories());
    return spark;
  }

  /**
   * Lets a reader of a MapReduce job in.
   *
   * @throws IOException if it is refused, with the reason
   */
  JobApplication enter(ApplicationState job) throws IOException {
    if (!(open(job) instanceof JobApplication entered)) {
      throw new IOException(job.name() + " is an application of Spark");
    }
    return entered;
  }

  /**
   * Returns the application, which is opened if it is not served yet.
   *
   * @param first its state if it is not known yet
   * @throws IOException if the process that enters is refused, with the reason
   */
  private ServedApplication open(ApplicationState first) throws IOException {
    if (!isKnown(first.name())) {
      admission.enter();
    }
    ServedApplication entered = null;
    while (entered == null) { // The application has ended meanwhile; try again.
      entered = known(first).enter(first);
    }
    return entered;
  }

  /** Returns the application, which begins with this state if it is not known yet. */
  private synchronized Application known(ApplicationState first) throws IOException {
    String name = first.name();
    if (closed) {
      throw new IOException("the node daemon is stopping");
    }
    if (over.contains(name)) {
      throw new IOException("application " + name + " has ended, as its driver reported");
    }
    if (!NodeFolders.isName(name)) {
      throw new IOException("the name of application " + name + " cannot be a folder's name");
    }
    Application known = byName.get(name);
    if (known == null && byName.size() >= options.get(NodeSettings.MAX_APPLICATIONS)) {
      throw new IOException(
          "the node already serves %d applications (%s)"
              .formatted(byName.size(), NodeSettings.MAX_APPLICATIONS.key()));
    }
    return known == null ? application(first) : known;
  }

  private Application application(ApplicationState state) {
    String name = state.name();
    Application application =
        new Application(folders, opener, state, () -> remember(name), () -> byName.remove(name));
    byName.put(name, application);
    return application;
  }

  private synchronized void remember(String name) {
    over.add(name);
    if (over.size() > MAX_REMEMBERED) {
      over.remove(over.getFirst());
    }
  }

  /** Ports that other applications use, or may reclaim. */
  Set<Integer> portsOfOthers(String name) {
    return byName.values().stream()
        .map(Application::state)
        .filter(state -> !state.name().equals(name))
        .map(ApplicationState::port)
        .collect(Collectors.toSet());
  }

  /**
   * Returns the first state of a MapReduce job that is served; null if there is none of that name.
   * A job that has ended is served until the next clean-up, as to readers that are connected.
   */
  @Nullable ApplicationState servedJob(String name) {
    Application known = byName.get(name);
    if (known == null || !(known.served() instanceof JobApplication)) {
      return null;
    }
    ApplicationState state = known.state();
    return ApplicationState.first(name, state.secret(), state.job());
  }

  /** Returns true if there is such an application. */
  boolean isKnown(String name) {
    return byName.containsKey(name);
  }

  boolean isEmpty() {
    return byName.isEmpty();
  }

  /** Applications that are served. */
  Collection<ServedApplication> served() {
    return byName.values().stream().map(Application::served).filter(Objects::nonNull).toList();
  }

  /** Removes applications without a sign of life. Never blocks. */
  void tidy() {
    byName
        .values()
        .forEach(application -> application.tidy(options.get(NodeSettings.EXPIRE_AFTER)));
  }

  /** Closes all applications at the same time, since none waits for another. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    List<Thread> closing =
        byName.values().stream().map(application -> NodeDisks.start(application::close)).toList();
    join(closing, options.get(NodeSettings.STOP_TIMEOUT).toNanos());
  }
}
