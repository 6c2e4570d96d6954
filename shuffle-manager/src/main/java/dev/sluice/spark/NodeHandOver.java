package dev.sluice.spark;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.node.NodeClient;
import dev.sluice.blocks.node.NodeEndpoint;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands an executor's map outputs over to the block server of its node, and has the driver's
 * directory say that they are there. The caller waits for it. What does not go is tried again with
 * the next task, so that a block server may come later than its executors.
 *
 * <p>Of single map outputs nothing is published: readers ask the node for the locations of those
 * that they want, once each shuffle and executor.
 */
final class NodeHandOver implements HandOver {
  private static final Logger LOG = LoggerFactory.getLogger(NodeHandOver.class);
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

  private final SharedAttempt<NodeClient> entering = new SharedAttempt<>(this::enter);
  private final SharedAttempt<NodeEndpoint> publishing = new SharedAttempt<>(this::publishNow);

  /** Guarded by this. */
  private Optional<NodeClient> client = Optional.empty();

  /** Guarded by this. */
  private boolean closed;

  /** Whether the node did not answer, or not take, when it was asked last. */
  private volatile boolean isDoubtful;

  /**
   * @param self this executor
   * @param provider of this executor's device
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

  /**
   * Returns when the node knows the executor and the driver knows the node. A node that did not
   * answer of late is asked anew, lest tasks do work that nobody takes.
   *
   * @throws IOException when there is no block server on this node, or it takes nothing of this
   *     application, or the driver does not answer; the message is the reason
   */
  @Override
  public void expect() throws IOException {
    NodeClient node = entered();
    if (isDoubtful) {
      ask(node);
    }
    publish(node);
  }

  /**
   * Returns when the map output is the node's, and readers can find it there.
   *
   * @throws IOException where that cannot be; the message is the reason
   */
  @Override
  public void committed(int shuffleId, long mapId) throws IOException {
    boolean taken = false;
    try {
      NodeClient node = entered();
      node.handOver(shuffleId, mapId, find(shuffleId, mapId));
      publish(node);
      taken = true;
    } catch (RuntimeException e) {
      throw new IOException(
          "Map output %d of shuffle %d is not handed over: %s".formatted(mapId, shuffleId, e), e);
    } finally {
      isDoubtful = !taken;
      counters.handedOver(taken);
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

  /** Waits within the limit of one request. */
  private NodeClient entered() throws IOException {
    return entering.get(_ -> true);
  }

  private NodeClient enter() throws IOException {
    NodeClient node = NodeClient.enter(access.socket(), self, secret, access.timeout());
    synchronized (this) {
      if (closed) {
        node.close();
        throw new IOException("the executor stops");
      }
      client = Optional.of(node);
      timer.scheduleWithFixedDelay(
          this::refresh, REFRESH_EVERY_MS, REFRESH_EVERY_MS, TimeUnit.MILLISECONDS);
    }
    NodeEndpoint endpoint = node.endpoint();
    LOG.info("Map outputs are handed over to {}", endpoint.peer());
    if (!endpoint.provider().equals(provider)) {
      LOG.warn(
          "Shuffle blocks of this node go by Spark's own transfer: its block server has provider"
              + " {}, this executor {} (sluice.node.provider, spark.shuffle.rdma.provider)",
          endpoint.provider(),
          provider);
    }
    return node;
  }

  /**
   * A node that was started again may be elsewhere, and perhaps nothing is handed over any more.
   */
  void refresh() {
    try {
      NodeClient node = entered();
      ask(node);
      publish(node);
    } catch (IOException | RuntimeException | Error e) { // The timer would end with any of them.
      LOG.debug("The node's block server is not there for now", e);
    }
  }

  private void ask(NodeClient node) throws IOException {
    boolean answers = false;
    try {
      node.refresh();
      answers = true;
    } finally {
      isDoubtful = !answers;
    }
  }

  /** The driver says where readers find the node; anew where that was started again. */
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
    client.ifPresent(NodeClient::close);
  }
}
