package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * What an executor knows of one shuffle's locations: the driver's table, and over it what peers
 * answered when the table did not know or was wrong. Any thread; never blocks.
 */
final class ShuffleLocations {
  /**
   * A peer's own word on a map output.
   *
   * @param executorId who wrote it
   * @param peer whose word it is: nothing to the next one that serves the executor's
   * @param location null where it has none
   * @param untilNanos when that answer is to be asked for again
   */
  private record Answer(
      String executorId, PeerAddress peer, MapOutputLocation location, long untilNanos) {}

  private final int shuffleId;
  private final KnownExecutors executors;
  private final Map<Long, Answer> answers = new HashMap<>();
  private final Map<Long, CompletableFuture<Void>> asked = new HashMap<>();
  private LocationTable table = new LocationTable();
  private long generation;

  ShuffleLocations(int shuffleId, KnownExecutors executors) {
    this.shuffleId = shuffleId;
    this.executors = executors;
  }

  /** Where the executor's map outputs can be READ; null for each of which that is not known. */
  synchronized MapOutputLocation[] find(String executorId, long[] mapIds) {
    int executor = executors.number(executorId);
    MapOutputLocation[] found = new MapOutputLocation[mapIds.length];
    int index = LocationTable.ABSENT;
    for (int i = 0; i < mapIds.length; i++) {
      if (i > 0 && mapIds[i] == mapIds[i - 1]) {
        found[i] = found[i - 1];
        continue;
      }
      found[i] = answer(executorId, mapIds[i]);
      if (found[i] == null) {
        index = table.index(mapIds[i], index);
        found[i] = table.isOf(index, executor) ? table.location(index) : null;
      }
    }
    return found;
  }

  /** What the executor has said of the map output; null where that is nothing. */
  private MapOutputLocation answer(String executorId, long mapId) {
    Answer answer = answers.isEmpty() ? null : answers.get(mapId);
    return isOf(executorId, answer) ? answer.location() : null;
  }

  private boolean isOf(String executorId, Answer answer) {
    if (answer == null || !answer.executorId().equals(executorId)) {
      return false;
    }
    ExecutorEndpoint endpoint = executors.endpoint(executorId);
    return endpoint != null && answer.peer().equals(endpoint.peer());
  }

  /** What the executor has said may be old. */
  synchronized void forgetAnswers(String executorId) {
    answers.values().removeIf(answer -> answer.executorId().equals(executorId));
  }

  /** What the driver has said of the executor may be old. */
  synchronized void forgetPublished(String executorId) {
    table.removeAll(executors.number(executorId));
  }

  /** The question for what is not known yet. */
  synchronized Locate question() {
    return new Locate(shuffleId, generation, table.bytes(), executors.version());
  }

  /**
   * Takes the answer to a {@link #question}, unless the answer to another one came before it.
   *
   * @param broadcast the records of its broadcast; null where it has none
   * @throws IOException where these are no records; what is known stays as it was
   */
  synchronized void update(Locate question, Table news, byte[] broadcast) throws IOException {
    if (question.generation() != generation || question.bytes() != table.bytes()) {
      return;
    }
    boolean replaced = news.generation() != generation || broadcast != null;
    LocationTable updated = replaced ? new LocationTable() : table;
    if (broadcast != null) {
      updated.append(broadcast);
    }
    updated.append(news.records());
    table = updated;
    generation = news.generation();
  }

  /** The location is wrong: it is not given out again, and its executor may be asked anew. */
  synchronized void invalidate(MapOutputLocation stale) {
    Answer answer = answers.get(stale.mapId());
    if (answer != null && stale.equals(answer.location())) {
      answers.remove(stale.mapId());
    }
    table.remove(stale);
  }

  /**
   * Divides map outputs that are not known.
   *
   * @param toAsk those that the peer is to be asked for, by the caller
   * @param asked the answers to wait for: the caller's, and those under way for other callers
   * @param answer the caller completes it after {@link #answered}
   */
  record Missing(
      long[] toAsk, Set<CompletableFuture<Void>> asked, CompletableFuture<Void> answer) {}

  /** What is to be asked of the executor; leaves out what it denied lately. */
  synchronized Missing missing(String executorId, long[] mapIds, long nowNanos) {
    CompletableFuture<Void> own = new CompletableFuture<>();
    List<Long> toAsk = new ArrayList<>();
    Set<CompletableFuture<Void>> awaited = new HashSet<>();
    MapOutputLocation[] known = find(executorId, mapIds);
    for (int i = 0; i < mapIds.length; i++) {
      long mapId = mapIds[i];
      if (known[i] == null && !isDenied(executorId, mapId, nowNanos)) {
        CompletableFuture<Void> other = asked.putIfAbsent(mapId, own);
        if (other == null) {
          toAsk.add(mapId);
        }
        awaited.add(other == null ? own : other);
      }
    }
    return new Missing(toAsk.stream().mapToLong(Long::longValue).toArray(), awaited, own);
  }

  private boolean isDenied(String executorId, long mapId, long nowNanos) {
    Answer answer = answers.get(mapId);
    return isOf(executorId, answer)
        && answer.location() == null
        && answer.untilNanos() - nowNanos > 0;
  }

  /**
   * Takes the peer's answer.
   *
   * @param peer who was asked
   * @param locations one element a map id, null for none
   */
  synchronized void answered(
      String executorId,
      PeerAddress peer,
      long[] mapIds,
      List<MapOutputLocation> locations,
      long untilNanos) {
    for (int i = 0; i < mapIds.length; i++) {
      answers.put(mapIds[i], new Answer(executorId, peer, locations.get(i), untilNanos));
      asked.remove(mapIds[i]);
    }
  }
}
