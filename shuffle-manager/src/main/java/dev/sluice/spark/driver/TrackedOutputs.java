// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.scheduler.MapStatus;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Map outputs as the driver's map output tracker knows them. {@link DriverRuntime} makes it. {@link
 * NodeLifetimes} calls it on its timer's, the listener bus's and virtual threads. {@code
 * ShuffleStatus} locks itself, one shuffle at a time. Executors learn of a change only if the
 * tracker's epoch grows.
 */
public record TrackedOutputs(MapOutputTrackerMaster tracker) implements NodeLifetimes.MapOutputs {
  private Map<Object, ShuffleStatus> shuffles() {
    return CollectionConverters.asJava(tracker.shuffleStatuses());
  }

  @Override
  public int[] liveShuffles() {
    return shuffles().keySet().stream().mapToInt(Integer.class::cast).toArray();
  }

  /** Looks at each map status; a shuffle may have 100,000. */
  @Override
  public Set<String> executors() {
    return shuffles().values().stream()
        .flatMap(shuffle -> shuffle.withMapStatuses(TrackedOutputs::executors).stream())
        .collect(Collectors.toSet());
  }

  private static Set<String> executors(MapStatus[] statuses) {
    Stream<MapStatus> written = Arrays.stream(statuses).filter(Objects::nonNull);
    return written.map(status -> status.location().executorId()).collect(Collectors.toSet());
  }

  /**
   * Unregisters map outputs. Spark writes them again when a stage ends or a reader asks for them.
   * Keeps a map output that another executor has written since.
   */
  @Override
  public int unregister(String executorId, int shuffleId, Set<Long> mapIds) {
    ShuffleStatus shuffle = shuffles().get(shuffleId);
    if (shuffle == null) {
      return 0;
    }
    Map<Integer, MapStatus> lost =
        shuffle.withMapStatuses(statuses -> written(statuses, executorId, mapIds));
    lost.forEach((mapIndex, status) -> shuffle.removeMapOutput(mapIndex, status.location()));
    if (!lost.isEmpty()) {
      tracker.incrementEpoch(); // Executors ask the tracker again.
    }
    return lost.size();
  }

  /** Returns map statuses by map index. */
  private static Map<Integer, MapStatus> written(
      MapStatus[] statuses, String executorId, Set<Long> mapIds) {
    return IntStream.range(0, statuses.length)
        .filter(mapIndex -> statuses[mapIndex] != null)
        .filter(mapIndex -> statuses[mapIndex].location().executorId().equals(executorId))
        .filter(mapIndex -> mapIds.contains(statuses[mapIndex].mapId()))
        .boxed()
        .collect(Collectors.toMap(Function.identity(), mapIndex -> statuses[mapIndex]));
  }

  /** Spark was told that map outputs outlive executors, so it does not unregister these itself. */
  @Override
  public void lost(String executorId) {
    tracker.removeOutputsOnExecutor(executorId);
  }
}
