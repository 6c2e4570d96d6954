// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.handover.NodeClient.NodeEndpoint;
import dev.sluice.blocks.handover.SharedAttempt;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands each map output over to the node daemon before its task ends, and tells the driver's
 * directory that the node serves this executor's map outputs. It publishes no single map output:
 * readers ask the node for the locations they need, once per shuffle and executor.
 *
 * <p>A map output that the daemon refuses stays with this executor, which serves it and tells the
 * driver: a refusal fails no task. After a refusal it asks the daemon, because the reason may be
 * one directory or one map output. If the daemon answers that it takes none, nothing is handed over
 * until it answers otherwise. Each new task asks it again, so a daemon may start later than its
 * executors.
 *
 * <p>{@link ReadingRuntime} makes and closes it for {@code spark.shuffle.rdma.node=on}. Map tasks'
 * threads call it and wait. A thread for questions to the driver asks the daemon every 10 s. No
 * thread talks to daemon or driver with a lock.
 */
public final class NodeHandOver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeHandOver.class);

  /** How late an idle executor may notice that its daemon was restarted. */
  static final long REFRESH_EVERY_MS = 10_000;

  private final NodeClient node;
  private final String executorId;
  private final String provider;
  private final DriverChannel driver;
  private final MapOutputFiles files;
  private final KeptOutputs kept;
  private final ShuffleCounters counters;
  private final Executor threads;
  private final SharedAttempt<NodeEndpoint> publishing;
  private final AtomicBoolean asking = new AtomicBoolean();

  /**
   * Reason why the node takes no map output now; empty if it takes them, as far as is known. Tasks
   * and other threads write it without a lock: the last one counts.
   */
  private volatile Optional<String> refusal = Optional.empty();

  /**
   * @param self this executor
   * @param provider provider of this executor's device
   * @param threads runs each question to daemon or driver on a thread of its own
   */
  NodeHandOver(
      NodeAccess access,
      ProcessName self,
      String provider,
      SluiceRuntime.Environment env,
      KeptOutputs kept,
      ShuffleCounters counters,
      Executor threads) {
    this.node =
        new NodeClient(
            access.socket(), access.user(), self, env.network().secret(), access.limits(), threads);
    this.executorId = self.id();
    this.provider = provider;
    this.driver = env.driver();
    this.files = env.files();
    this.kept = kept;
    this.counters = counters;
    this.threads = threads;
    this.publishing = new SharedAttempt<>(threads, this::publishNow);
  }

  /** Called when a map task begins. Never waits. */
  void expect() {
    if (refusal.isPresent() || !node.isKnown()) {
      askSoon();
    }
  }

  private void askSoon() {
    if (asking.compareAndSet(false, true)) {
      try {
        threads.execute(this::askNow);
      } catch (RuntimeException | Error e) {
        asking.set(false);
        LOG.warn("No thread could be started to ask the node daemon; a later task asks it", e);
      }
    }
  }

  private void askNow() {
    try {
      ask();
      refusal = Optional.empty();
    } catch (IOException | RuntimeException | Error e) { // Every failure must end this attempt.
      refusal = Optional.of(reason(e));
    } finally {
      asking.set(false);
    }
  }

  private static String reason(Throwable failure) {
    String message = failure instanceof IOException ? failure.getMessage() : null;
    return message == null ? failure.toString() : message;
  }

  /**
   * Returns when the daemon knows the executor and, as far as it can tell, takes map outputs, and
   * the driver knows the node.
   *
   * @throws IOException if that is not possible; the message is the reason
   */
  void ask() throws IOException {
    node.refresh();
    publish();
  }

  /**
   * Finds a daemon that was restarted, perhaps at another port, even if no more map outputs come.
   * Called every {@link #REFRESH_EVERY_MS}.
   */
  void refresh() {
    if (node.isKnown()) {
      try {
        ask();
      } catch (IOException | RuntimeException | Error e) { // The timer would end with any of them.
        LOG.debug("The node daemon does not answer; asking it again later", e);
      }
    }
  }

  /**
   * Called when a map task has committed. Returns when the node has the map output, or the driver
   * knows that it stays with this executor.
   *
   * @return the executor's own files of the map output if its node serves it; empty if the executor
   *     has to serve it
   * @throws IOException if the driver does not answer, or the task is killed meanwhile
   */
  Optional<MapOutputFiles.Files> committed(int shuffleId, long mapId) throws IOException {
    Optional<String> reason = refusal;
    if (reason.isEmpty()) {
      return handOver(shuffleId, mapId);
    }
    counters.add(ShuffleCounter.NODE_REFUSED, 1);
    kept.keep(shuffleId, mapId, reason.get());
    return Optional.empty();
  }

  /** Returns as {@link #committed}. A refusal may concern this map output only. */
  private Optional<MapOutputFiles.Files> handOver(int shuffleId, long mapId) throws IOException {
    boolean taken = false;
    String reason;
    try {
      MapOutputFiles.Files found = find(shuffleId, mapId);
      node.handOver(shuffleId, mapId, found);
      if (node.isKnown()) { // else no map output had a byte
        publish();
      }
      taken = true;
      return Optional.of(found);
    } catch (IOException | RuntimeException e) {
      reason = reason(e);
      if (Thread.currentThread().isInterrupted()) {
        throw new IOException(reason, e);
      }
      if (!node.isKnown()) { // It has taken none yet, and asking it again takes as long.
        refusal = Optional.of(reason);
      }
      askSoon();
    } finally {
      counters.add(taken ? ShuffleCounter.NODE_TAKEN : ShuffleCounter.NODE_REFUSED, 1);
    }
    kept.keep(shuffleId, mapId, reason);
    return Optional.empty();
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) throws IOException {
    MapOutputFiles.Files found = files.find(shuffleId, mapId);
    if (found == null) {
      throw new IOException(
          "Map output %d of shuffle %d has no index file".formatted(mapId, shuffleId));
    }
    return found;
  }

  /** Tells the driver where readers find the node, and again after the daemon was restarted. */
  private void publish() throws IOException {
    NodeEndpoint known;
    do {
      known = publishing.get(published -> published.equals(node.endpoint()));
    } while (!known.equals(node.endpoint()));
  }

  private NodeEndpoint publishNow() throws IOException {
    NodeEndpoint now = node.endpoint();
    driver.ask(
        new Publish(new ExecutorEndpoint(executorId, now.peer(), now.provider()), List.of()));
    LOG.info("Map outputs are handed over to node daemon {}", now.peer());
    if (!now.provider().equals(provider)) {
      LOG.warn(
          "Shuffle blocks of this node go by Spark's own transfer: the node daemon has provider"
              + " {}, this executor has {} (sluice.node.provider, spark.shuffle.rdma.provider)",
          now.provider(),
          provider);
    }
    return now;
  }

  @Override
  public void close() {
    node.close();
  }
}
