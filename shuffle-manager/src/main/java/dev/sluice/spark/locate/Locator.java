// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Finds where an executor's map outputs can be READ. {@link LocatorClient} implements it. Readers
 * call it on any thread: {@code BlockLocator} for locations, {@code NodeFetch} for node daemons. It
 * never blocks. A future may complete on a thread for questions to the driver or of the transport,
 * so steps that follow must not block either.
 */
public interface Locator {
  /**
   * @param peer server of the executor's map outputs; null if this process can READ from none
   * @param outputs one location for each requested map id; null for one that cannot be READ
   */
  record Located(@Nullable PeerAddress peer, @Nullable MapOutputLocation[] outputs) {}

  /**
   * Called when a task is about to read the shuffle: asks the driver for its table unless this
   * process has done so before.
   */
  void prepare(int shuffleId);

  /**
   * Looks the map outputs up in the driver's table, and asks the executor for those that it lacks.
   *
   * @return never completes exceptionally: a map output that cannot be located is null in the
   *     result
   */
  CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds);

  /**
   * Returns the node daemon that has the executor's map outputs, as far as this process knows;
   * empty if the executor serves them itself.
   */
  default Optional<PeerAddress> node(String executorId) {
    return Optional.empty();
  }

  /** Returns true if, as far as this process knows, the executor serves its map outputs itself. */
  default boolean servesItself(String executorId) {
    return true;
  }

  /**
   * Place of an executor's map outputs, as the driver knows it.
   *
   * @param node daemon of its node; empty if it has none of them
   * @param gone true if Spark has removed the executor, so that asking it is useless
   */
  record Whereabouts(Optional<PeerAddress> node, boolean gone) {}

  /**
   * Asks the driver where an executor's map outputs are, after they did not come from the known
   * place.
   *
   * @return never completes exceptionally: without an answer it completes with the known place
   */
  default CompletableFuture<Whereabouts> find(String executorId) {
    return CompletableFuture.completedFuture(new Whereabouts(node(executorId), false));
  }

  /**
   * Tells the driver that a node daemon has not answered this process. If it does not answer the
   * driver either, all map outputs of lost executors there are lost before this completes.
   *
   * @return never completes exceptionally
   */
  default CompletableFuture<Void> report(PeerAddress silentNode) {
    return CompletableFuture.completedFuture(null);
  }

  /** Called when a READ found the location stale: the next {@link #locate} asks the executor. */
  void invalidate(int shuffleId, MapOutputLocation stale);
}
