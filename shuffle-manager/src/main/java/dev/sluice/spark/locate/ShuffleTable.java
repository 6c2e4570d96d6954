// SPDX-License-Identifier: Apache-2.0
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
 * An executor's knowledge of one shuffle's locations: the driver's table, and answers of peers
 * where that table lacked a location or was wrong. {@link LocatorClient} has one for each shuffle
 * and calls it on any thread; it never blocks. A caller that {@link #missing} gives map outputs to
 * ask for must call {@link #answered}, also without an answer, or other readers wait for ever. It
 * completes the answer without this lock.
 */
final class ShuffleTable {
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
      String executorId, PeerAddress peer, MapOutputLocation location, long untilNanos) {}

  private final int shuffleId;
  private final KnownExecutors executors;
  private final Map<Long, Answer> answers = new HashMap<>();

  /** Pending answers of the peer, by map id. */
  private final Map<Long, CompletableFuture<Void>> asked = new HashMap<>();

  private LocationTable table = new LocationTable();

  /** Generation of the table; 0 before the first one. */
  private long generation;

  ShuffleTable(int shuffleId, KnownExecutors executors) {
    this.shuffleId = shuffleId;
    this.executors = executors;
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
      found[i] = answer(executorId, mapIds[i]);
      if (found[i] == null) {
        index = table.index(mapIds[i], index);
        found[i] = table.isOf(index, executor) ? table.location(index) : null;
      }
    }
    return found;
  }

  /** Returns the peer's answer about the map output; null if there is none. */
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

  /** Forgets peers' answers about the executor, which may be old. */
  synchronized void forgetAnswers(String executorId) {
    answers.values().removeIf(answer -> answer.executorId().equals(executorId));
  }

  /** Forgets the driver's locations of the executor, which may be old. */
  synchronized void forgetPublished(String executorId) {
    table.removeAll(executors.number(executorId));
  }

  /** Returns the question for the changes that are not known yet. */
  synchronized Locate question() {
    return new Locate(shuffleId, generation, table.bytes(), executors.version());
  }

  /**
   * Takes the answer to a {@link #question}, unless the answer to another one came before it.
   *
   * @param broadcast the records of its broadcast; null for none
   * @throws IOException if these are not records; the table is unchanged then
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

  /** Forgets a wrong location, so that its executor may be asked again. */
  synchronized void invalidate(MapOutputLocation stale) {
    Answer answer = answers.get(stale.mapId());
    if (answer != null && stale.equals(answer.location())) {
      answers.remove(stale.mapId());
    }
    table.remove(stale);
  }

  /**
   * Map outputs whose locations are not known.
   *
   * @param toAsk map outputs for which the caller is to ask the peer
   * @param asked pending answers to wait for, of this caller and of others
   * @param answer the caller completes it after {@link #answered}
   */
  record Missing(
      long[] toAsk, Set<CompletableFuture<Void>> asked, CompletableFuture<Void> answer) {}

  /** Returns the map outputs to ask the executor for, without those that it denied lately. */
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
   * @param peer the peer that was asked
   * @param locations one location for each map id; null for none
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
