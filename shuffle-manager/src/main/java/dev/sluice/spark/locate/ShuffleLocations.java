package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
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
   * @param location null where it has none
   * @param untilNanos when that answer is to be asked for again
   */
  private record Answer(String executorId, MapOutputLocation location, long untilNanos) {}

  private final int shuffleId;
  private final KnownExecutors executors;
  private final Map<Long, Answer> answers = new HashMap<>();
  private final Map<Long, CompletableFuture<Void>> asked = new HashMap<>();
  private LocationLog log = new LocationLog();
  private LongIntMap records = new LongIntMap();
  private long generation;

  ShuffleLocations(int shuffleId, KnownExecutors executors) {
    this.shuffleId = shuffleId;
    this.executors = executors;
  }

  /** Where the executor's map outputs can be READ; null for each of which that is not known. */
  synchronized MapOutputLocation[] find(String executorId, long[] mapIds) {
    int executor = executors.number(executorId);
    MapOutputLocation[] found = new MapOutputLocation[mapIds.length];
    for (int i = 0; i < mapIds.length; i++) {
      boolean again = i > 0 && mapIds[i] == mapIds[i - 1];
      found[i] = again ? found[i - 1] : find(executorId, executor, mapIds[i]);
    }
    return found;
  }

  /**
   * @param executor the executor's number
   */
  private MapOutputLocation find(String executorId, int executor, long mapId) {
    Answer answer = answers.get(mapId);
    if (answer != null && answer.executorId().equals(executorId) && answer.location() != null) {
      return answer.location();
    }
    int record = records.get(mapId);
    boolean usable =
        executor != ExecutorTable.NONE
            && record != LongIntMap.ABSENT
            && log.executor(record) == executor;
    return usable ? log.location(record) : null;
  }

  /** What the executor has said may be old. */
  synchronized void forgetAnswers(String executorId) {
    answers.values().removeIf(answer -> answer.executorId().equals(executorId));
  }

  /** The question for what is not known yet. */
  synchronized Locate question() {
    return new Locate(shuffleId, generation, log.count(), executors.version());
  }

  /**
   * Takes the answer to a {@link #question}, unless the answer to another one came before it.
   *
   * @param broadcast the records of the table's broadcast; null where it has none
   * @throws IOException where these are no records; what is known stays as it was
   */
  synchronized void update(Locate question, Table table, byte[] broadcast) throws IOException {
    LocationLog.check(table.records());
    if (broadcast != null) {
      LocationLog.check(broadcast);
    }
    if (question.generation() != generation || question.count() != log.count()) {
      return;
    }
    if (table.generation() != generation || broadcast != null) {
      generation = table.generation();
      log = new LocationLog();
      records = new LongIntMap();
    }
    int known = log.count();
    if (broadcast != null) {
      log.append(broadcast);
    }
    log.append(table.records());
    for (int record = known; record < log.count(); record++) {
      records.put(log.mapId(record), record);
    }
  }

  /** The location is wrong: it is not given out again, and its executor may be asked anew. */
  synchronized void invalidate(MapOutputLocation stale) {
    Answer answer = answers.get(stale.mapId());
    if (answer != null && stale.equals(answer.location())) {
      answers.remove(stale.mapId());
    }
    int record = records.get(stale.mapId());
    if (record != LongIntMap.ABSENT && stale.equals(log.location(record))) {
      records.put(stale.mapId(), LongIntMap.ABSENT);
    }
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
    int executor = executors.number(executorId);
    CompletableFuture<Void> own = new CompletableFuture<>();
    List<Long> toAsk = new ArrayList<>();
    Set<CompletableFuture<Void>> awaited = new HashSet<>();
    for (long mapId : mapIds) {
      if (find(executorId, executor, mapId) == null && !isDenied(executorId, mapId, nowNanos)) {
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
    return answer != null
        && answer.executorId().equals(executorId)
        && answer.location() == null
        && answer.untilNanos() - nowNanos > 0;
  }

  /**
   * Takes the peer's answer.
   *
   * @param locations one element a map id, null for none
   */
  synchronized void answered(
      String executorId, long[] mapIds, List<MapOutputLocation> locations, long untilNanos) {
    for (int i = 0; i < mapIds.length; i++) {
      answers.put(mapIds[i], new Answer(executorId, locations.get(i), untilNanos));
      asked.remove(mapIds[i]);
    }
  }
}
