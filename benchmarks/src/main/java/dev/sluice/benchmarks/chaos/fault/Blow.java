package dev.sluice.benchmarks.chaos.fault;

import dev.sluice.benchmarks.chaos.cluster.Cluster;
import java.util.List;
import java.util.Random;

/**
 * Lets a fault happen, and takes it back. Stateless but for what {@link #prepare} and {@link
 * #strike} leave to the others: one object a process, used by one thread.
 */
@FunctionalInterface
public interface Blow {
  /**
   * Why it cannot be tried here; null where it can.
   *
   * @param provider that Sluice READs by
   */
  default String unavailable(String provider) {
    return null;
  }

  /** Before the job begins, whatever the moment. */
  default void prepare(Cluster cluster, Random random) throws Exception {}

  /** Lets it happen. */
  void strike(Cluster cluster, Random random) throws Exception;

  /** What grows where it happens; nothing where only it can tell. */
  default List<Evidence> evidence() {
    return List.of();
  }

  /**
   * Whether it did happen, as far as it can tell; asked after the job, before it is healed.
   *
   * @param inTime whether the job was not over when it struck
   */
  default boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return inTime;
  }

  /** When no task runs any more: takes away what Spark loses sight of by it in any shuffle. */
  default void settled(Cluster cluster) throws Exception {}

  /** Ends it, if that has not ended by itself; at least once, whatever came of the job. */
  default void heal(Cluster cluster) throws Exception {}
}
