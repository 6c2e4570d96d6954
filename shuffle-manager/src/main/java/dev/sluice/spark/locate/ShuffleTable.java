// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's knowledge of one shuffle's locations: a copy of the driver's table, and answers of
 * peers where that table lacked a location or was wrong. It refreshes the copy once a second at
 * most. {@link LocatorClient} has one for each shuffle and calls it on any thread. It never blocks.
 * Its lock comes before that of {@link KnownExecutors}, and is not held while driver or peer is
 * asked, nor while an answer completes.
 */
final class ShuffleTable {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleTable.class);

  /** Minimum time between two questions to the driver about a shuffle. */
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * Locations of an executor that were not used for this time are refreshed before use: an executor
   * withdraws idle locations 15 s before it deregisters them.
   */
  private static final long BELIEF_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A peer that denied a map output is not asked for it again within this time. */
  private static final long DENIAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Locations that were not used for this time are dropped, and fetched again on demand. */
  private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  /**
   * A peer's answer about a map output.
   *
   * @param executorId executor that wrote it
   * @param peer peer that answered; the answer is void if another one serves the executor's map
   *     outputs
   * @param location null if the peer has none
   * @param untilNanos time from which the peer may be asked again after it had none
   */
  private record Answer(
      String executorId, PeerAddress peer, @Nullable MapOutputLocation location, long untilNanos) {}

  /** Freshness of an executor's locations: 100 bytes each. */
  private static final class Freshness {
    long usedNanos;

    /** A refresh that must complete before the locations are used. */
    CompletableFuture<Void> news = DONE;

    Freshness(long usedNanos) {
      this.usedNanos = usedNanos;
    }
  }

  private final int shuffleId;
  private final DirectoryClient directory;
  private final KnownExecutors executors;
  private final LongSupplier nanoClock;
  private final Map<String, Freshness> byExecutor = new HashMap<>();
  private final Map<Long, Answer> answers = new HashMap<>();

  /** Pending answers of the peer, by map id. */
  private final Map<Long, CompletableFuture<Void>> asked = new HashMap<>();

  private LocationTable table = new LocationTable();

  /** Generation of the table; 0 before the first one. */
  private long generation;

  private long usedNanos;

  /** Time at which the latest answer of the driver was asked for. */
  private long newsNanos;

  /** The pending refresh, or the last one; null before the first. */
  private @Nullable CompletableFuture<Void> refresh;

  /** Time at which it began. */
  private long refreshNanos;

  ShuffleTable(int shuffleId, DirectoryClient directory, LongSupplier nanoClock) {
    this.shuffleId = shuffleId;
    this.directory = directory;
    this.executors = directory.executors();
    this.nanoClock = nanoClock;
    usedNanos = nanoClock.getAsLong();
    newsNanos = usedNanos;
  }

  /** Notes that a task uses the table, and refreshes it if none did so for a while. */
  synchronized void use() {
    long now = nanoClock.getAsLong();
    boolean isOld = now - usedNanos > BELIEF_NANOS;
    usedNanos = now;
    if (isOld) {
      refresh();
    }
  }

  /** Returns true if the table is to be dropped. */
  synchronized boolean isIdle() {
    return nanoClock.getAsLong() - usedNanos > IDLE_NANOS;
  }

  /** Asks the driver for the table unless that was done before. */
  synchronized void prepare() {
    if (refresh == null) {
      // Executors that begin as well need this executor's locations. They publish theirs meanwhile,
      // so that later readers need not ask them.
      refresh(directory.publish());
    }
  }

  /** Completes, always normally, when the table is as new as possible. */
  CompletableFuture<Void> refresh() {
    return refresh(DONE);
  }

  /**
   * @param before the driver is asked after it completes
   */
  private synchronized CompletableFuture<Void> refresh(CompletableFuture<Void> before) {
    long now = nanoClock.getAsLong();
    if (refresh == null || (refresh.isDone() && now - refreshNanos >= REFRESH_NANOS)) {
      refreshNanos = now;
      refresh = directory.refresh(before, this, now);
    }
    return refresh;
  }

  /** Completes, always normally, when the locations of the executor may be used. */
  synchronized CompletableFuture<Void> news(String executorId) {
    long now = nanoClock.getAsLong();
    Freshness freshness = byExecutor.computeIfAbsent(executorId, _ -> new Freshness(newsNanos));
    boolean isOld = now - freshness.usedNanos > BELIEF_NANOS;
    freshness.usedNanos = now;
    if (isOld) {
      // The driver cannot revoke a peer's answer, of which it does not know.
      answers.values().removeIf(answer -> answer.executorId().equals(executorId));
      if (now - newsNanos > BELIEF_NANOS) {
        freshness.news = refresh().thenRun(() -> doubt(executorId, now));
      }
    }
    return freshness.news;
  }

  /** Drops published locations if the driver has no news, so that the executor itself is asked. */
  private synchronized void doubt(String executorId, long nowNanos) {
    if (nowNanos - newsNanos > BELIEF_NANOS) {
      table.removeAll(executors.number(executorId));
    }
  }

  /** Returns the question for the changes that are not known yet. */
  synchronized Locate question() {
    return new Locate(shuffleId, generation, table.bytes(), executors.version());
  }

  /**
   * Takes the answer to a {@link #question}, unless the answer to another one came before it.
   *
   * @param broadcast the records of its broadcast; null for none
   * @param askedNanos time of the question
   * @throws IOException if these are not records; the table is unchanged then
   */
  synchronized void update(
      Locate question, Table news, byte @Nullable [] broadcast, long askedNanos)
      throws IOException {
    if (question.generation() == generation && question.bytes() == table.bytes()) {
      boolean replaced = news.generation() != generation || broadcast != null;
      LocationTable updated = replaced ? new LocationTable() : table;
      if (broadcast != null) {
        updated.append(broadcast);
      }
      updated.append(news.records());
      table = updated;
      generation = news.generation();
    }
    newsNanos = askedNanos;
  }

  /** Returns the locations of the executor's map outputs; null for each one that is not known. */
  synchronized MapOutputLocation[] find(String executorId, long[] mapIds) {
    int executor = executors.number(executorId);
    MapOutputLocation[] found = new MapOutputLocation[mapIds.length];
    int index = LocationTable.ABSENT;
    for (int i = 0; i < mapIds.length; i++) {
      if (i > 0 && mapIds[i] == mapIds[i - 1]) {
        found[i] = found[i - 1];
        continue;
      }
      Answer answer = answer(executorId, mapIds[i]);
      found[i] = answer == null ? null : answer.location();
      if (found[i] == null) {
        index = table.index(mapIds[i], index);
        found[i] = table.isOf(index, executor) ? table.location(index) : null;
      }
    }
    return found;
  }

  /** Returns the answer of the peer that serves the executor's map outputs; null for none. */
  private @Nullable Answer answer(String executorId, long mapId) {
    Answer answer = answers.isEmpty() ? null : answers.get(mapId);
    if (answer == null || !answer.executorId().equals(executorId)) {
      return null;
    }
    ExecutorEndpoint endpoint = executors.endpoint(executorId);
    return endpoint != null && answer.peer().equals(endpoint.peer()) ? answer : null;
  }

  /** Forgets a wrong location, so that its executor may be asked again. */
  synchronized void invalidate(MapOutputLocation stale) {
    Answer answer = answers.get(stale.mapId());
    if (answer != null && stale.equals(answer.location())) {
      answers.remove(stale.mapId());
    }
    table.remove(stale);
  }

  /**
   * Asks the executor's peer for locations that are not known, without those that it denied lately
   * or is being asked for.
   *
   * @param ask asks the peer for map outputs
   * @return completes, always normally, when all these locations were answered or denied
   */
  @SuppressWarnings("UndefinedEquals") // futures are told apart by identity
  CompletableFuture<Void> resolve(
      String executorId,
      PeerAddress peer,
      long[] mapIds,
      Function<long[], CompletableFuture<List<MapOutputLocation>>> ask) {
    CompletableFuture<Void> own = new CompletableFuture<>();
    Set<CompletableFuture<Void>> awaited = new HashSet<>();
    long[] toAsk;
    synchronized (this) {
      MapOutputLocation[] known = find(executorId, mapIds);
      for (int i = 0; i < mapIds.length; i++) {
        if (known[i] == null && !isDenied(executorId, mapIds[i])) {
          awaited.add(asked.computeIfAbsent(mapIds[i], _ -> own));
        }
      }
      toAsk = Arrays.stream(mapIds).distinct().filter(id -> asked.get(id) == own).toArray();
    }
    if (toAsk.length > 0) {
      ask.apply(toAsk)
          .whenComplete(
              (locations, failure) -> {
                answered(executorId, peer, toAsk, usable(locations, failure, toAsk.length));
                own.complete(null);
              });
    }
    return CompletableFuture.allOf(awaited.toArray(CompletableFuture[]::new));
  }

  private boolean isDenied(String executorId, long mapId) {
    Answer answer = answer(executorId, mapId);
    return answer != null
        && answer.location() == null
        && answer.untilNanos() - nanoClock.getAsLong() > 0;
  }

  private static List<MapOutputLocation> usable(
      List<MapOutputLocation> answer, Throwable failure, int expected) {
    if (failure == null && answer.size() == expected) {
      return answer;
    }
    LOG.debug("A peer did not resolve {} map outputs", expected, failure);
    return Collections.nCopies(expected, null);
  }

  private synchronized void answered(
      String executorId, PeerAddress peer, long[] mapIds, List<MapOutputLocation> locations) {
    long untilNanos = nanoClock.getAsLong() + DENIAL_NANOS;
    for (int i = 0; i < mapIds.length; i++) {
      answers.put(mapIds[i], new Answer(executorId, peer, locations.get(i), untilNanos));
      asked.remove(mapIds[i]);
    }
  }
}
