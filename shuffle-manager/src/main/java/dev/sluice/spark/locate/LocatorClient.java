// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Find;
import dev.sluice.spark.locate.DirectoryMessage.Found;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds map outputs for this executor's readers. It looks in a copy of the driver's table, and asks
 * the peer itself for locations that the table lacks. It fetches the table once a shuffle, and
 * refreshes it only if a location is missing or those of an executor were not used for a while.
 * Readers call it on any thread and never wait; the given executor runs the questions to the
 * driver. The executor's runtime makes it; there is nothing to close. {@link #forget} drops a
 * shuffle's copy, and so does time.
 *
 * <p>Order of locks: {@code Freshness}, {@code CachedShuffle}, {@link ShuffleTable}, {@link
 * KnownExecutors}. None is held while driver or peer is asked.
 */
public final class LocatorClient implements Locator {
  private static final Logger LOG = LoggerFactory.getLogger(LocatorClient.class);

  /** Minimum time between two questions to the driver about a shuffle. */
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Fraction (1/10) of a question's time that a refresh waits for pending publications. */
  private static final int PUBLISH_SHARE = 10;

  /**
   * Locations of an executor that were not used for this time are refreshed before use: an executor
   * withdraws idle locations 15 s before it deregisters them.
   */
  private static final long BELIEF_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A peer that denied a map output is not asked for it again within this time. */
  private static final long DENIAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Locations that were not used for this time are dropped, and fetched again on demand. */
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

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
   * @param publisher sends pending publications at once, and completes then: {@link
   *     Publisher#flush}
   */
  public record Driver(
      DriverChannel channel,
      Broadcasts broadcasts,
      Executor asker,
      Supplier<CompletableFuture<Void>> publisher) {}

  private final Services services;
  private final DirectoryClient questions;
  private final KnownExecutors executors;
  private final UnresponsiveNodes unresponsiveNodes;
  private final Map<Integer, CachedShuffle> shuffles = new ConcurrentHashMap<>();

  /** Questions to the driver that are pending, by executor. */
  private final Map<String, CompletableFuture<Whereabouts>> finding = new ConcurrentHashMap<>();

  public LocatorClient(Services services) {
    this(services, new UnresponsiveNodes(services.nanoClock()));
  }

  /**
   * @param unresponsiveNodes nodes that are not asked for locations; nodes that do not answer in
   *     time are added
   */
  public LocatorClient(Services services, UnresponsiveNodes unresponsiveNodes) {
    this.services = services;
    this.questions = new DirectoryClient(services.driver(), services.timeoutMs());
    this.unresponsiveNodes = unresponsiveNodes;
    this.executors = new KnownExecutors(services.lost());
  }

  @Override
  public void prepare(int shuffleId) {
    CachedShuffle shuffle = cached(shuffleId);
    synchronized (shuffle) {
      if (shuffle.refresh == null) {
        // Executors that begin as well need this executor's locations. They publish theirs
        // meanwhile, so that later readers need not ask them. Publishing may be retried for a
        // minute, so the wait is limited.
        CompletableFuture<Void> published = services.driver().publisher().get();
        long soonMs = services.timeoutMs() / PUBLISH_SHARE;
        refresh(shuffle, published.completeOnTimeout(null, soonMs, TimeUnit.MILLISECONDS));
      }
    }
  }

  @Override
  public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
    CachedShuffle shuffle = cached(shuffleId);
    CompletableFuture<Void> news = news(shuffle, executorId);
    return news.isDone()
        ? locate(shuffle, shuffleId, executorId, mapIds)
        : news.thenCompose(_ -> locate(shuffle, shuffleId, executorId, mapIds));
  }

  /** Completes, always normally, when the cached locations of the executor may be used. */
  private CompletableFuture<Void> news(CachedShuffle shuffle, String executorId) {
    long now = services.nanoClock().getAsLong();
    Freshness freshness =
        shuffle.beliefs.computeIfAbsent(executorId, _ -> new Freshness(shuffle.newsNanos));
    synchronized (freshness) {
      boolean isOld = now - freshness.usedNanos > BELIEF_NANOS;
      freshness.usedNanos = now;
      if (isOld) {
        // The driver cannot revoke a peer's answer, of which it does not know.
        shuffle.locations.forgetAnswers(executorId);
        if (now - shuffle.newsNanos > BELIEF_NANOS) {
          freshness.news = refresh(shuffle).thenRun(() -> doubt(shuffle, executorId, now));
        }
      }
      return freshness.news;
    }
  }

  /** Drops published locations if the driver has no news, so that the executor itself is asked. */
  private static void doubt(CachedShuffle shuffle, String executorId, long nowNanos) {
    if (nowNanos - shuffle.newsNanos > BELIEF_NANOS) {
      shuffle.locations.forgetPublished(executorId);
    }
  }

  private CompletableFuture<Located> locate(
      CachedShuffle shuffle, int shuffleId, String executorId, long[] mapIds) {
    Located known = look(shuffle, executorId, mapIds);
    if (isComplete(known)) {
      return CompletableFuture.completedFuture(known);
    }
    return refresh(shuffle)
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
    return questions.once(
        services.driver().asker(),
        finding,
        executorId,
        answer -> findNow(executorId, answer),
        () -> new Whereabouts(node(executorId), false));
  }

  @Override
  public CompletableFuture<Void> report(PeerAddress silentNode) {
    return questions.report(silentNode);
  }

  private void findNow(String executorId, CompletableFuture<Whereabouts> question) {
    try {
      if (services.driver().channel().ask(new Find(executorId)) instanceof Found found) {
        if (found.gone() && servesItself(executorId)) {
          // The entry is older than the loss. Any shuffle's refresh updates it, since all share
          // that table.
          shuffles.values().stream().findAny().ifPresent(this::refresh);
        }
        question.complete(new Whereabouts(Optional.ofNullable(found.node()), found.gone()));
      }
    } catch (IOException e) {
      LOG.warn(
          "The driver did not answer which node daemon has the map outputs of executor {}",
          executorId,
          e);
    }
  }

  @Override
  public void invalidate(int shuffleId, MapOutputLocation stale) {
    CachedShuffle shuffle = shuffles.get(shuffleId);
    if (shuffle != null) {
      shuffle.locations.invalidate(stale);
    }
  }

  /** Forgets a shuffle that is unregistered. */
  public void forget(int shuffleId) {
    shuffles.remove(shuffleId);
  }

  private CachedShuffle cached(int shuffleId) {
    long now = services.nanoClock().getAsLong();
    CachedShuffle shuffle = shuffles.get(shuffleId);
    if (shuffle == null) {
      // A task may read a shuffle after it was unregistered. Only this removes such entries.
      shuffles.values().removeIf(other -> now - other.usedNanos > IDLE_NANOS);
      shuffle =
          shuffles.computeIfAbsent(
              shuffleId, id -> new CachedShuffle(new ShuffleTable(id, executors), now));
    }
    boolean isOld = now - shuffle.usedNanos > BELIEF_NANOS;
    shuffle.usedNanos = now;
    if (isOld) {
      refresh(shuffle);
    }
    return shuffle;
  }

  private Located look(CachedShuffle shuffle, String executorId, long[] mapIds) {
    PeerAddress peer = peer(executorId);
    return new Located(
        peer,
        peer == null
            ? new MapOutputLocation[mapIds.length]
            : shuffle.locations.find(executorId, mapIds));
  }

  /** Returns the executor's server; null if it is unknown or has another provider. */
  private PeerAddress peer(String executorId) {
    ExecutorEndpoint endpoint = executors.endpoint(executorId);
    return endpoint == null || !endpoint.provider().equals(services.provider())
        ? null
        : endpoint.peer();
  }

  private static boolean isComplete(Located located) {
    return located.peer() != null && !Arrays.asList(located.outputs()).contains(null);
  }

  /** Completes, always normally, when the shuffle's table is as new as possible. */
  private CompletableFuture<Void> refresh(CachedShuffle shuffle) {
    return refresh(shuffle, CompletableFuture.completedFuture(null));
  }

  /**
   * @param before the driver is asked after it completes
   */
  private CompletableFuture<Void> refresh(CachedShuffle shuffle, CompletableFuture<Void> before) {
    synchronized (shuffle) {
      long now = services.nanoClock().getAsLong();
      if (shuffle.refresh != null && now - shuffle.refreshNanos < REFRESH_NANOS) {
        return shuffle.refresh;
      }
      if (shuffle.refresh != null && !shuffle.refresh.isDone()) {
        return shuffle.refresh;
      }
      shuffle.refreshNanos = now;
      shuffle.refresh = questions.ask(before, () -> ask(shuffle, now));
      return shuffle.refresh;
    }
  }

  private void ask(CachedShuffle shuffle, long nowNanos) {
    Locate question = shuffle.locations.question();
    try {
      if (services.driver().channel().ask(question) instanceof Table table) {
        // Done first, because the rest may fail. Then readers ask peers for the missing locations.
        executors.update(table.executors());
        byte[] handle = table.broadcast();
        byte[] broadcast = handle.length == 0 ? null : services.driver().broadcasts().fetch(handle);
        shuffle.locations.update(question, table, broadcast);
        shuffle.newsNanos = nowNanos;
      }
    } catch (IOException e) {
      LOG.warn(
          "Refreshing the locations of shuffle {} failed: {}", question.shuffleId(), e.toString());
    }
  }

  /** Asks the peer for missing locations; completes normally when all answers have arrived. */
  private CompletableFuture<Void> resolve(
      CachedShuffle shuffle, int shuffleId, String executorId, long[] mapIds) {
    PeerAddress peer = peer(executorId);
    if (peer == null || unresponsiveNodes.contains(peer)) {
      return CompletableFuture.completedFuture(null);
    }
    ShuffleTable locations = shuffle.locations;
    ShuffleTable.Missing missing =
        locations.missing(executorId, mapIds, services.nanoClock().getAsLong());
    if (missing.toAsk().length > 0) {
      askPeer(peer, shuffleId, missing.toAsk())
          .whenComplete(
              (answer, failure) -> {
                if (isTimeout(failure) && node(executorId).isPresent()) {
                  unresponsiveNodes.add(peer);
                }
                locations.answered(
                    executorId,
                    peer,
                    missing.toAsk(),
                    usable(answer, failure, missing.toAsk().length),
                    services.nanoClock().getAsLong() + DENIAL_NANOS);
                missing.answer().complete(null);
              });
    }
    return CompletableFuture.allOf(missing.asked().toArray(CompletableFuture[]::new));
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

  private static List<MapOutputLocation> usable(
      List<MapOutputLocation> answer, Throwable failure, int expected) {
    if (failure == null && answer.size() == expected) {
      return answer;
    }
    LOG.debug("A peer did not resolve {} map outputs", expected, failure);
    return Collections.nCopies(expected, null);
  }

  /** A shuffle's locations and their last refresh. This object guards the refresh. */
  private static final class CachedShuffle {
    final ShuffleTable locations;

    /** Freshness by executor: 100 bytes each. */
    final Map<String, Freshness> beliefs = new ConcurrentHashMap<>();

    volatile long usedNanos;

    /** Time at which the latest answer of the driver was asked for. */
    volatile long newsNanos;

    /** The pending refresh, or the last one; null before the first. Guarded by this. */
    CompletableFuture<Void> refresh;

    /** Time at which it began. Guarded by this. */
    long refreshNanos;

    CachedShuffle(ShuffleTable locations, long nowNanos) {
      this.locations = locations;
      usedNanos = nowNanos;
      newsNanos = nowNanos;
    }
  }

  /** Freshness of an executor's locations in a shuffle. Guarded by this. */
  private static final class Freshness {
    long usedNanos;

    /** A refresh that must complete before the locations are used. */
    CompletableFuture<Void> news = CompletableFuture.completedFuture(null);

    Freshness(long usedNanos) {
      this.usedNanos = usedNanos;
    }
  }
}
