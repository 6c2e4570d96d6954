package dev.sluice.spark;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleStatus;
import org.apache.spark.scheduler.MapStatus;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What the driver's map output tracker says.
 *
 * @param promised whether Spark was told that map outputs outlive their executors, so that it does
 *     not by itself take those of one that is gone for lost
 */
record TrackedOutputs(MapOutputTrackerMaster tracker, boolean promised)
    implements NodeLifetimes.MapOutputs {
  private Map<Object, ShuffleStatus> shuffles() {
    return CollectionConverters.asJava(tracker.shuffleStatuses());
  }

  @Override
  public int[] liveShuffles() {
    return shuffles().keySet().stream().mapToInt(Integer.class::cast).toArray();
  }

  /** Looks at each map status, of which there may be 100,000 in a shuffle. */
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

  @Override
  public void lost(String executorId) {
    if (promised) {
      tracker.removeOutputsOnExecutor(executorId);
    }
  }
}
