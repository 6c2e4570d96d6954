package dev.sluice.spark;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.node.NodeClient;
import dev.sluice.blocks.node.NodeEndpoint;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
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
 * directory say that they are there. Map tasks' threads call it when they commit, and wait; the
 * executor's runtime closes it.
 *
 * <p>Of single map outputs nothing is published: readers ask the node for the locations of those
 * that they want, once each shuffle and executor.
 */
final class NodeHandOver implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeHandOver.class);
  private static final long REFRESH_EVERY_MS = 10_000;

  private final NodeClient node;
  private final String executorId;
  private final DriverChannel driver;
  private final MapOutputFiles files;

  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform()
              .daemon()
              .name("sluice-node")
              .inheritInheritableThreadLocals(false)
              .factory());

  /** What the driver knows. Guarded by this. */
  private Optional<NodeEndpoint> published = Optional.empty();

  private NodeHandOver(NodeClient node, String executorId, SluiceRuntime.Environment env) {
    this.node = node;
    this.executorId = executorId;
    this.driver = env.driver();
    this.files = env.files();
  }

  /**
   * Returns when the node knows the executor and the driver knows the node.
   *
   * @param self this executor
   * @throws IOException when there is no block server on this node, or it takes nothing of this
   *     application, or the driver does not answer; the message is the reason
   */
  static NodeHandOver enter(NodeAccess access, ProcessName self, SluiceRuntime.Environment env)
      throws IOException {
    NodeClient node =
        NodeClient.enter(access.socket(), self, env.network().secret(), access.timeout());
    NodeHandOver handOver = new NodeHandOver(node, self.id(), env);
    boolean known = false;
    try {
      handOver.publish();
      known = true;
    } finally {
      if (!known) {
        handOver.close();
      }
    }
    handOver.timer.scheduleWithFixedDelay(
        handOver::refresh, REFRESH_EVERY_MS, REFRESH_EVERY_MS, TimeUnit.MILLISECONDS);
    return handOver;
  }

  /**
   * Returns when the map output is the node's, and readers can find it there.
   *
   * @throws IOException where that cannot be; the message is the reason
   */
  void handOver(int shuffleId, long mapId) throws IOException {
    try {
      MapOutputFiles.Files found = files.find(shuffleId, mapId);
      if (found == null) {
        throw new IOException(
            "Map output %d of shuffle %d has no index file".formatted(mapId, shuffleId));
      }
      node.handOver(shuffleId, mapId, found);
      publish();
    } catch (RuntimeException e) {
      throw new IOException(
          "Map output %d of shuffle %d is not handed over: %s".formatted(mapId, shuffleId, e), e);
    }
  }

  /**
   * A node that was started again may be elsewhere, and perhaps nothing is handed over any more.
   */
  void refresh() {
    try {
      node.refresh();
      publish();
    } catch (IOException | RuntimeException e) {
      LOG.debug("The node's block server is not there for now", e);
    }
  }

  /** Who serves what is handed over. */
  NodeEndpoint node() {
    return node.endpoint();
  }

  /** The driver says where readers find the node; anew where that was started again. */
  private synchronized void publish() throws IOException {
    NodeEndpoint now = node.endpoint();
    if (!published.equals(Optional.of(now))) {
      driver.ask(
          new Publish(new ExecutorEndpoint(executorId, now.peer(), now.provider()), List.of()));
      published = Optional.of(now);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    node.close();
  }
}
