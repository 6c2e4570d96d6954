// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.fault;

import dev.sluice.chaos.cluster.Cluster;
import dev.sluice.chaos.inject.Injection;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Causes a fault and takes it back. {@code FaultedJob} calls it on the driver's main thread, in the
 * order prepare, strike, hasStruck, heal, settled; the command only asks {@link #unavailable}. A
 * process has one object for all its runs: {@link #prepare} and {@link #strike} may keep state for
 * the other methods, and have to reset the state of the run before.
 */
@FunctionalInterface
public interface FaultAction {
  /**
   * Returns why the fault cannot be tried here; null if it can.
   *
   * @param provider provider by which Sluice READs
   */
  default @Nullable String unavailable(String provider) {
    return null;
  }

  /** Called before the job begins, for any moment of the fault. */
  default void prepare(Cluster cluster, Random random) throws Exception {}

  /** Causes the fault. */
  void strike(Cluster cluster, Random random) throws Exception;

  /**
   * Returns the numbers that grow when the fault happens; empty if only hasStruck can tell. {@link
   * Faults} asks once, when it reads the list.
   */
  default List<Evidence> evidence() {
    return List.of();
  }

  /**
   * Returns true if the fault happened, as far as it can tell. Called after the job, before {@link
   * #heal}.
   *
   * @param inTime true if the job was still running at the strike
   */
  default boolean hasStruck(Cluster cluster, boolean inTime) throws Exception {
    return inTime;
  }

  /** Called when no task runs: removes files that Spark loses track of, with any shuffle. */
  default void settled(Cluster cluster) throws Exception {}

  /**
   * Ends the fault if it has not ended by itself, apart from injections, which then end as well.
   * Called once or several times, however the job ended, and also if {@link #strike} failed or was
   * not reached.
   */
  default void heal(Cluster cluster) throws Exception {}

  /**
   * Evidence that a fault has struck: a number over all executors so far that grows by it. The
   * driver's main thread reads it before the strike and after the job.
   */
  @FunctionalInterface
  public interface Evidence {
    /** Number of executors that Spark has lost. */
    Evidence LOST_EXECUTORS = cluster -> cluster.stages().lostExecutors();

    /** Returns the present value. */
    long in(Cluster cluster) throws Exception;

    /** Returns the number of times that the injection acted. */
    static Evidence of(Injection injection) {
      return cluster -> cluster.hits(injection);
    }

    /**
     * Returns a counter of Sluice.
     *
     * @param counter name of the counter in Sluice's metrics
     */
    static Evidence of(String counter) {
      return cluster -> cluster.counted(counter);
    }
  }
}
