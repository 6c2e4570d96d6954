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
 * Finds map outputs for this executor's readers: in a copy of the driver's table, fetched once a
 * shuffle and refreshed only when something is missing or nobody has read an executor's for a
 * while, and at the peer itself for what the table lacks. Readers call it on any thread and never
 * wait; questions to the driver run on the given executor. {@link #forget} drops a shuffle's copy,
 * and so does time; there is nothing to close.
 */
public final class LocatorClient implements Locator {
  private static final Logger LOG = LoggerFactory.getLogger(LocatorClient.class);

  /** The driver is not asked for news of a shuffle more often. */
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Of the time that there is for a question: longer it does not wait for what is published. */
  private static final int PUBLISH_SHARE = 10;

  /**
   * What nobody has asked for of an executor within this time is not believed before there are
   * news: an executor withdraws what is idle 15 s before it deregisters it.
   */
  private static final long BELIEF_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A peer that denied a map output is not asked for it again within this time. */
  private static final long DENIAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Locations that nobody has asked for within this time are fetched again when somebody does. */
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** Asks a peer's block server: BlockServerClient#resolve. */
  @FunctionalInterface
  public interface Resolver {
    CompletableFuture<List<MapOutputLocation>> resolve(
        PeerAddress peer, int shuffleId, long[] mapIds);
  }

  /**
   * What a locator works with.
   *
   * @param provider provider of this process's device
   * @param timeoutMs neither the driver nor a peer is waited for longer
   * @param lost is told of executors that are gone
   */
  public record Services(
      String provider,
      Driver driver,
      Resolver resolver,
      long timeoutMs,
      Consumer<PeerAddress> lost,
      LongSupplier nanoClock) {}

  /**
   * How the driver is asked.
   *
   * @param asker runs the questions, and fetches what the driver has broadcast: both block
   * @param publisher tells the driver at once what it has not been told yet, and completes then:
   *     {@link Publisher#flush}
   */
  public record Driver(
      DriverChannel channel,
      Broadcasts broadcasts,
      Executor asker,
      Supplier<CompletableFuture<Void>> publisher) {}

  private final Services services;
  private final DriverQuestions questions;
  private final KnownExecutors executors;
  private final SilentNodes silentNodes;
  private final Map<Integer, CachedShuffle> shuffles = new ConcurrentHashMap<>();

  /** Questions to the driver under way, by executor. */
  private final Map<String, CompletableFuture<Whereabouts>> finding = new ConcurrentHashMap<>();

  public LocatorClient(Services services) {
    this(services, new SilentNodes(services.nanoClock()));
  }

  /**
   * @param silentNodes are not asked for locations; those that do not give them in time are added
   */
  public LocatorClient(Services services, SilentNodes silentNodes) {
    this.services = services;
    this.questions = new DriverQuestions(services.driver(), services.timeoutMs());
    this.silentNodes = silentNodes;
    this.executors = new KnownExecutors(services.lost());
  }

  @Override
  public void prepare(int shuffleId) {
    CachedShuffle shuffle = cached(shuffleId);
    synchronized (shuffle) {
      if (shuffle.refresh == null) {
        // Executors that begin, too, look for what is here, and tell what they have meanwhile: who
        // asks later need not ask them. It may be tried for a minute to tell the driver.
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

  /** Completes, always normally, when what is known of the executor can be believed. */
  private CompletableFuture<Void> news(CachedShuffle shuffle, String executorId) {
    long now = services.nanoClock().getAsLong();
    Belief belief = shuffle.beliefs.computeIfAbsent(executorId, _ -> new Belief(shuffle.newsNanos));
    synchronized (belief) {
      boolean isOld = now - belief.usedNanos > BELIEF_NANOS;
      belief.usedNanos = now;
      if (isOld) {
        // The driver has no news of what it was not told.
        shuffle.locations.forgetAnswers(executorId);
        if (now - shuffle.newsNanos > BELIEF_NANOS) {
          belief.news = refresh(shuffle).thenRun(() -> doubt(shuffle, executorId, now));
        }
      }
      return belief.news;
    }
  }

  /** Where the driver has no news, the executor itself is asked. */
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
          // Its entry is older than its end, and that table is all shuffles'.
          shuffles.values().stream().findAny().ifPresent(this::refresh);
        }
        question.complete(new Whereabouts(Optional.ofNullable(found.node()), found.gone()));
      }
    } catch (IOException e) {
      LOG.warn("The driver does not say who has what executor {} wrote", executorId, e);
    }
  }

  @Override
  public void invalidate(int shuffleId, MapOutputLocation stale) {
    CachedShuffle shuffle = shuffles.get(shuffleId);
    if (shuffle != null) {
      shuffle.locations.invalidate(stale);
    }
  }

  /** The shuffle is unregistered. */
  public void forget(int shuffleId) {
    shuffles.remove(shuffleId);
  }

  private CachedShuffle cached(int shuffleId) {
    long now = services.nanoClock().getAsLong();
    CachedShuffle shuffle = shuffles.get(shuffleId);
    if (shuffle == null) {
      // A task may read a shuffle that is unregistered: nobody else would forget that.
      shuffles.values().removeIf(other -> now - other.usedNanos > IDLE_NANOS);
      shuffle =
          shuffles.computeIfAbsent(
              shuffleId, id -> new CachedShuffle(new ShuffleLocations(id, executors), now));
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

  /** Null where it is not known, or has another provider. */
  private PeerAddress peer(String executorId) {
    ExecutorEndpoint endpoint = executors.endpoint(executorId);
    return endpoint == null || !endpoint.provider().equals(services.provider())
        ? null
        : endpoint.peer();
  }

  private static boolean isComplete(Located located) {
    return located.peer() != null && !Arrays.asList(located.outputs()).contains(null);
  }

  /** Completes, always normally, when the shuffle's table is as new as it may be. */
  private CompletableFuture<Void> refresh(CachedShuffle shuffle) {
    return refresh(shuffle, CompletableFuture.completedFuture(null));
  }

  /**
   * @param before the driver is not asked before it completes
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
        // Before what may fail: peers are asked for what the table lacks.
        executors.update(table.executors());
        byte[] handle = table.broadcast();
        byte[] broadcast = handle.length == 0 ? null : services.driver().broadcasts().fetch(handle);
        shuffle.locations.update(question, table, broadcast);
        shuffle.newsNanos = nowNanos;
      }
    } catch (IOException e) {
      LOG.warn("Locations of shuffle {} are not refreshed: {}", question.shuffleId(), e.toString());
    }
  }

  /** Asks the peer for what is missing; completes normally when all answers are in. */
  private CompletableFuture<Void> resolve(
      CachedShuffle shuffle, int shuffleId, String executorId, long[] mapIds) {
    PeerAddress peer = peer(executorId);
    if (peer == null || silentNodes.contains(peer)) {
      return CompletableFuture.completedFuture(null);
    }
    ShuffleLocations locations = shuffle.locations;
    ShuffleLocations.Missing missing =
        locations.missing(executorId, mapIds, services.nanoClock().getAsLong());
    if (missing.toAsk().length > 0) {
      askPeer(peer, shuffleId, missing.toAsk())
          .whenComplete(
              (answer, failure) -> {
                if (isTimeout(failure) && node(executorId).isPresent()) {
                  silentNodes.add(peer);
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
    } catch (RuntimeException | Error e) { // Others wait for the answer, too.
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

  /** A shuffle's locations and the last refresh of them, which is guarded by this. */
  private static final class CachedShuffle {
    final ShuffleLocations locations;

    /** By executor: 100 bytes each. */
    final Map<String, Belief> beliefs = new ConcurrentHashMap<>();

    volatile long usedNanos;

    /** What has come was asked for then. */
    volatile long newsNanos;

    CompletableFuture<Void> refresh;
    long refreshNanos;

    CachedShuffle(ShuffleLocations locations, long nowNanos) {
      this.locations = locations;
      usedNanos = nowNanos;
      newsNanos = nowNanos;
    }
  }

  /** In what is known of an executor's part of a shuffle. Guarded by this. */
  private static final class Belief {
    long usedNanos;

    /** A refresh before which it is not believed. */
    CompletableFuture<Void> news = CompletableFuture.completedFuture(null);

    Belief(long usedNanos) {
      this.usedNanos = usedNanos;
    }
  }
}
