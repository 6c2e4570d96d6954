// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Silent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds map outputs for this executor's readers. It looks in a {@link ShuffleTable}, which has a
 * copy of the driver's table, and asks the peer itself for locations that the table lacks. It
 * fetches the table once a shuffle, and refreshes it only if a location is missing or those of an
 * executor were not used for a while. Readers call it on any thread and never wait; the given
 * executor runs the questions to the driver. The executor's runtime makes it; there is nothing to
 * close. {@link #forget} drops a shuffle's table, and so does time.
 */
public final class LocatorClient implements Locator {
  /** Asks a peer's block server, as BlockServerClient#resolve does. */
  @FunctionalInterface
  public interface Resolver {
    CompletableFuture<List<MapOutputLocation>> resolve(
        PeerAddress peer, int shuffleId, long[] mapIds);
  }

  /**
   * Services that a locator uses.
   *
   * @param provider provider of this process's device
   * @param timeoutMs limit of the wait for the driver or a peer
   * @param lost is told of executors that are lost
   */
  public record Services(
      String provider,
      Driver driver,
      Resolver resolver,
      long timeoutMs,
      Consumer<PeerAddress> lost,
      LongSupplier nanoClock) {}

  /**
   * Access to the driver.
   *
   * @param asker runs the questions and fetches the driver's broadcasts; both block
   * @param blocking runs questions that the driver answers only after seconds
   * @param publisher sends pending publications at once, and completes then: {@link
   *     Publisher#flush}
   */
  public record Driver(
      DriverChannel channel,
      Broadcasts broadcasts,
      Executor asker,
      Executor blocking,
      Supplier<CompletableFuture<Void>> publisher) {}

  private final Services services;
  private final KnownExecutors executors;
  private final DirectoryClient directory;
  private final UnresponsiveNodes unresponsiveNodes;
  private final Map<Integer, ShuffleTable> shuffles = new ConcurrentHashMap<>();

  public LocatorClient(Services services) {
    this(services, new UnresponsiveNodes(services.nanoClock()));
  }

  /**
   * @param unresponsiveNodes nodes that are not asked for locations; nodes that do not answer in
   *     time are added
   */
  public LocatorClient(Services services, UnresponsiveNodes unresponsiveNodes) {
    this.services = services;
    this.executors = new KnownExecutors(services.lost());
    this.directory = new DirectoryClient(services.driver(), services.timeoutMs(), executors);
    this.unresponsiveNodes = unresponsiveNodes;
  }

  @Override
  public void prepare(int shuffleId) {
    used(shuffleId).prepare();
  }

  @Override
  public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
    ShuffleTable shuffle = used(shuffleId);
    CompletableFuture<Void> news = shuffle.news(executorId);
    return news.isDone()
        ? locate(shuffle, shuffleId, executorId, mapIds)
        : news.thenCompose(_ -> locate(shuffle, shuffleId, executorId, mapIds));
  }

  private CompletableFuture<Located> locate(
      ShuffleTable shuffle, int shuffleId, String executorId, long[] mapIds) {
    Located known = look(shuffle, executorId, mapIds);
    if (known.peer() != null && !Arrays.asList(known.outputs()).contains(null)) {
      return CompletableFuture.completedFuture(known);
    }
    return shuffle
        .refresh()
        .thenCompose(_ -> resolve(shuffle, shuffleId, executorId, mapIds))
        .thenApply(_ -> look(shuffle, executorId, mapIds));
  }

  @Override
  public Optional<PeerAddress> node(String executorId) {
    return Optional.ofNullable(executors.endpoint(executorId))
        .filter(ExecutorEndpoint::outlivesExecutor)
        .map(ExecutorEndpoint::peer);
  }

  @Override
  public boolean servesItself(String executorId) {
    ExecutorEndpoint endpoint = executors.endpoint(executorId);
    return endpoint != null && !endpoint.outlivesExecutor();
  }

  @Override
  public CompletableFuture<Whereabouts> find(String executorId) {
    return directory
        .once(
            new Find(executorId),
            services.driver().asker(),
            "The driver did not answer which node daemon has the map outputs of executor {}",
            executorId)
        .thenApply(
            answer ->
                answer instanceof Found found
                    ? whereabouts(executorId, found)
                    : new Whereabouts(node(executorId), false))
        .exceptionally(_ -> new Whereabouts(node(executorId), false));
  }

  private Whereabouts whereabouts(String executorId, Found found) {
    if (found.gone() && servesItself(executorId)) {
      // The entry is older than the loss. Any shuffle's refresh updates it, since all share that
      // table.
      shuffles.values().stream().findAny().ifPresent(ShuffleTable::refresh);
    }
    return new Whereabouts(found.node(), found.gone());
  }

  @Override
  public CompletableFuture<Void> report(PeerAddress silentNode) {
    // The driver asks the node for seconds before it answers, and other questions must not wait
    // for a whole rack of lost nodes.
    return directory
        .once(
            new Silent(silentNode),
            services.driver().blocking(),
            "Cannot tell the driver that node daemon {} does not answer",
            silentNode)
        .thenApply(_ -> null);
  }

  @Override
  public void invalidate(int shuffleId, MapOutputLocation stale) {
    ShuffleTable shuffle = shuffles.get(shuffleId);
    if (shuffle != null) {
      shuffle.invalidate(stale);
    }
  }

  /** Forgets a shuffle that is unregistered. */
  public void forget(int shuffleId) {
    shuffles.remove(shuffleId);
  }

  private ShuffleTable used(int shuffleId) {
    ShuffleTable shuffle = shuffles.get(shuffleId);
    if (shuffle == null) {
      // A task may read a shuffle after it was unregistered. Only this removes such entries.
      shuffles.values().removeIf(ShuffleTable::isIdle);
      shuffle =
          shuffles.computeIfAbsent(
              shuffleId, id -> new ShuffleTable(id, directory, services.nanoClock()));
    }
    shuffle.use();
    return shuffle;
  }

  private Located look(ShuffleTable shuffle, String executorId, long[] mapIds) {
    PeerAddress peer = peer(executorId);
    return new Located(
        peer,
        peer == null ? new MapOutputLocation[mapIds.length] : shuffle.find(executorId, mapIds));
  }

  /** Returns the executor's server; null if it is unknown or has another provider. */
  private @Nullable PeerAddress peer(String executorId) {
    ExecutorEndpoint endpoint = executors.endpoint(executorId);
    return endpoint == null || !endpoint.provider().equals(services.provider())
        ? null
        : endpoint.peer();
  }

  /** Asks the peer for missing locations; completes normally when all answers have arrived. */
  private CompletableFuture<Void> resolve(
      ShuffleTable shuffle, int shuffleId, String executorId, long[] mapIds) {
    PeerAddress peer = peer(executorId);
    if (peer == null || unresponsiveNodes.contains(peer)) {
      return CompletableFuture.completedFuture(null);
    }
    return shuffle.resolve(
        executorId,
        peer,
        mapIds,
        missing ->
            askPeer(peer, shuffleId, missing)
                .whenComplete(
                    (_, failure) -> {
                      if (isTimeout(failure) && node(executorId).isPresent()) {
                        unresponsiveNodes.add(peer);
                      }
                    }));
  }

  private CompletableFuture<List<MapOutputLocation>> askPeer(
      PeerAddress peer, int shuffleId, long[] mapIds) {
    try {
      return services
          .resolver()
          .resolve(peer, shuffleId, mapIds)
          .orTimeout(services.timeoutMs(), TimeUnit.MILLISECONDS);
    } catch (RuntimeException | Error e) { // Other readers wait for this answer, too.
      return CompletableFuture.failedFuture(e);
    }
  }

  private static boolean isTimeout(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .anyMatch(TimeoutException.class::isInstance);
  }
}
