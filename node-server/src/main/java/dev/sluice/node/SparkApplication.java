// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.NodeRequest;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.NodeId;
import dev.sluice.node.StateFile.OtherUser;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.UnaryOperator;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;

/**
 * An application of Spark that a node serves: its executors hand map outputs over, and its driver
 * tells which are over. It has a port of its own, with 2 to 8 threads, which also serves Spark's
 * own transfer of blocks.
 *
 * <p>Any thread. {@link NodeDaemon} opens it, its {@link Application} closes it. Threads of
 * executors' connections hand over, the transport's threads bring the driver's messages.
 */
final class SparkApplication extends ServedApplication {
  private final ApplicationStore store;

  /** Folders into which executors of another user put map outputs; null if they have none. */
  private final @Nullable Inboxes inboxes;

  private final Runnable end;
  private final BlockServer server;

  /** Read lock: a hand-over until it is answered. Write lock: the end of all hand-overs. */
  private final ReadWriteLock handOvers = new ReentrantReadWriteLock();

  /**
   * Serves the map outputs in the folders. {@link #scan} counts them and finds those that are gone.
   *
   * @param nodeId id by which peers know the node
   * @param port port to listen on
   * @param store map outputs in the folders
   * @param end called when the driver says that the application is over; must not block
   * @param timer the daemon's timer
   */
  SparkApplication(
      NodeDevice device,
      NodeId nodeId,
      ApplicationPort port,
      ApplicationStore store,
      Runnable end,
      ScheduledExecutorService timer)
      throws IOException {
    super(
        device,
        nodeId,
        port.host(),
        port.state(),
        store.directories(),
        UnaryOperator.identity(),
        _ -> true, // The folders are on disks that answer.
        store.finder(),
        timer);
    this.store = store;
    OtherUser user = port.state().user();
    this.inboxes = user == null ? null : new Inboxes(user, store.folders());
    this.end = end;
    boolean listening = false;
    try {
      store.open(registry());
      server = listen(port);
      listening = true;
    } finally {
      if (!listening) {
        close();
      }
    }
  }

  private BlockServer listen(ApplicationPort port) throws IOException {
    TransportConf conf = ApplicationPort.transport();
    started(store);
    ExternalBlockHandler blocks =
        new ExternalBlockHandler(
            new OneForOneStreamManager(),
            new NodeBlockResolver(conf, name(), store::find, registry()));
    started(blocks::close);
    return started(
        port.listen(conf, new NodeHandler(readers(), blocks, this::hear, end, this::sign)));
  }

  @Override
  int port() {
    return server.port();
  }

  @Override
  List<String> folders() {
    return inboxes == null
        ? store.folders().stream().map(folder -> folder.path().toString()).toList()
        : inboxes.paths();
  }

  /** Parent directories of its folders, one on each of the node's file systems. */
  List<Path> directories() {
    return store.directories();
  }

  /**
   * Takes a map output that an executor has put into one of the folders.
   *
   * @param folder index of the folder
   * @throws IOException if it is refused, with the reason
   */
  void handOver(int shuffleId, long mapId, int folder) throws IOException {
    handOvers.readLock().lock();
    try {
      if (isOver()) {
        throw new IOException("application " + name() + " has ended on this node");
      }
      sign();
      take(shuffleId, mapId, folder);
    } finally {
      handOvers.readLock().unlock();
    }
  }

  private void take(int shuffleId, long mapId, int folder) throws IOException {
    boolean isMoved = inboxes != null && inboxes.move(shuffleId, mapId, folder);
    boolean taken = false;
    try {
      store.take(shuffleId, mapId, folder);
      taken = true;
    } finally {
      if (!taken && isMoved) { // Else the executor takes its files back.
        store.folders().get(folder).remove(shuffleId, mapId);
      }
    }
  }

  @Override
  void scan() {
    store.scan(this::isOver);
    if (inboxes != null) {
      inboxes.removeOld(Inboxes.MAX_AGE);
    }
  }

  /**
   * Handles a message of a driver. The driver may be another application's, if its application was
   * silent for so long that this one has the port now. Never blocks; completes when it is done.
   */
  private CompletableFuture<NodeResponse> hear(NodeRequest told) {
    if (!told.application().equals(name())) {
      String reason = "this port now belongs to application %s, not to %s";
      return CompletableFuture.failedFuture(
          new IOException(reason.formatted(name(), told.application())));
    }
    sign();
    NodeResponse heard = new NodeResponse(self().id(), System.nanoTime());
    return switch (told.lifetime()) {
      case RemoveShuffle(int shuffleId) -> store.remove(shuffleId).thenApply(_ -> heard);
      case Renew renewal -> {
        if (renewal.lastHeard().nodeId().equals(self().id())) {
          store.removeBut(renewal);
        }
        yield CompletableFuture.completedFuture(heard);
      }
      case EndApplication() -> CompletableFuture.completedFuture(heard);
    };
  }

  @Override
  int shuffles() {
    return store.shuffles();
  }

  @Override
  long outputs() {
    return store.outputs();
  }

  @Override
  long bytes() {
    return store.bytes();
  }

  /** Ends hand-overs, too, and returns when none is under way. */
  @Override
  boolean end(Duration silence) {
    handOvers.writeLock().lock();
    try {
      return super.end(silence);
    } finally {
      handOvers.writeLock().unlock();
    }
  }
}
