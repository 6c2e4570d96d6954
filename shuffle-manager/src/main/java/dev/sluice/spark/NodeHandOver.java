// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.handover.NodeClient;
import dev.sluice.blocks.handover.NodeClient.NodeEndpoint;
import dev.sluice.blocks.handover.SharedAttempt;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.spark.AwaitedHandOver.NodeOutputs;
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
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands an executor's map outputs over to the node daemon, and tells the driver's directory that
 * the node serves them. A call that fails may be tried again, so a daemon may start later than its
 * executors. {@link ReadingRuntime} makes and closes it.
 *
 * <p>Calls block. {@link AwaitedHandOver} calls it on map tasks' threads and on a virtual one. The
 * timer {@code sluice-node} of this class calls it every 10 s. No thread talks to daemon or driver
 * with the lock. This class publishes no single map output. Readers ask the node for the locations
 * they need, once per shuffle and executor.
 */
final class NodeHandOver implements NodeOutputs, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeHandOver.class);

  /** How late an idle executor may notice that its daemon was restarted. */
  private static final long REFRESH_EVERY_MS = 10_000;

  private final NodeAccess access;
  private final ProcessName self;
  private final String secret;
  private final String provider;
  private final DriverChannel driver;
  private final MapOutputFiles files;
  private final ShuffleCounters counters;

  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("sluice-node"));

  private final Executor attempts = DaemonThreads.perTask("sluice-attempt-");
  private final SharedAttempt<NodeClient> entering = new SharedAttempt<>(attempts, this::enter);
  private final SharedAttempt<NodeEndpoint> publishing =
      new SharedAttempt<>(attempts, this::publishNow);

  /** Empty until the daemon knows this executor; guarded by this. */
  private Optional<NodeClient> client = Optional.empty();

  /** Guarded by this. */
  private boolean closed;

  /**
   * @param self this executor
   * @param provider provider of this executor's device
   */
  NodeHandOver(
      NodeAccess access,
      ProcessName self,
      String provider,
      SluiceRuntime.Environment env,
      ShuffleCounters counters) {
    this.access = access;
    this.self = self;
    this.provider = provider;
    this.secret = env.network().secret();
    this.driver = env.driver();
    this.files = env.files();
    this.counters = counters;
  }

  @Override
  public synchronized boolean isKnown() {
    return client.isPresent();
  }

  @Override
  public void ask() throws IOException {
    NodeClient node = entered();
    node.refresh();
    publish(node);
  }

  @Override
  public void handOver(int shuffleId, long mapId) throws IOException {
    boolean taken = false;
    try {
      NodeClient node = entered();
      node.handOver(shuffleId, mapId, find(shuffleId, mapId));
      publish(node);
      taken = true;
    } catch (RuntimeException e) {
      throw new IOException(
          "Map output %d of shuffle %d was not handed over to the node daemon: %s"
              .formatted(mapId, shuffleId, e),
          e);
    } finally {
      counters.add(taken ? ShuffleCounter.NODE_TAKEN : ShuffleCounter.NODE_REFUSED, 1);
    }
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) throws IOException {
    MapOutputFiles.Files found = files.find(shuffleId, mapId);
    if (found == null) {
      throw new IOException(
          "Map output %d of shuffle %d has no index file".formatted(mapId, shuffleId));
    }
    return found;
  }

  /**
   * Returns the client. Waits for a running attempt to register, or starts one, no longer than the
   * limit of one request.
   */
  private NodeClient entered() throws IOException {
    return entering.get(_ -> true);
  }

  private NodeClient enter() throws IOException {
    synchronized (this) {
      if (closed) {
        throw new IOException("the executor is stopping");
      }
    }
    NodeClient node = NodeClient.enter(access.socket(), self, secret, access.limits());
    synchronized (this) {
      if (closed) {
        node.close();
        throw new IOException("the executor is stopping");
      }
      client = Optional.of(node);
      timer.scheduleWithFixedDelay(
          this::refresh, REFRESH_EVERY_MS, REFRESH_EVERY_MS, TimeUnit.MILLISECONDS);
    }
    NodeEndpoint endpoint = node.endpoint();
    LOG.info("Map outputs are handed over to node daemon {}", endpoint.peer());
    if (!endpoint.provider().equals(provider)) {
      LOG.warn(
          "Shuffle blocks of this node go by Spark's own transfer: the node daemon has provider"
              + " {}, this executor has {} (sluice.node.provider, spark.shuffle.rdma.provider)",
          endpoint.provider(),
          provider);
    }
    return node;
  }

  /**
   * Finds a daemon that was restarted, perhaps at another port, even if no more map outputs come.
   */
  void refresh() {
    try {
      ask();
    } catch (IOException | RuntimeException | Error e) { // The timer would end with any of them.
      LOG.debug("The node daemon does not answer; asking it again later", e);
    }
  }

  /** Tells the driver where readers find the node, and again after the daemon was restarted. */
  private void publish(NodeClient node) throws IOException {
    NodeEndpoint known;
    do {
      known = publishing.get(published -> published.equals(node.endpoint()));
    } while (!known.equals(node.endpoint()));
  }

  private NodeEndpoint publishNow() throws IOException {
    NodeEndpoint now = entered().endpoint();
    driver.ask(new Publish(new ExecutorEndpoint(self.id(), now.peer(), now.provider()), List.of()));
    return now;
  }

  @Override
  public synchronized void close() {
    closed = true;
    timer.shutdownNow();
    entering.close();
    client.ifPresent(NodeClient::close);
  }
}
