package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Finds where an executor's map outputs can be READ. Any thread, never blocks. */
public interface Locator {
  /**
   * @param peer who serves what the executor wrote; null for nobody that this process can READ from
   * @param outputs one element a map id asked for; null for one that cannot be READ
   */
  record Located(PeerAddress peer, MapOutputLocation[] outputs) {}

  /**
   * A task is about to read the shuffle: whoever has not asked the driver for its table does so
   * now.
   */
  void prepare(int shuffleId);

  /**
   * Looks the map outputs up in the driver's table, and asks the executor for what that lacks.
   *
   * @return never completes exceptionally: what cannot be located is null in the result
   */
  CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds);

  /**
   * The block server of a node that has what the executor wrote, as far as that is known here;
   * empty where the executor serves it itself.
   */
  default Optional<PeerAddress> node(String executorId) {
    return Optional.empty();
  }

  /** Whether, as far as is known here, the executor itself serves what it wrote. */
  default boolean servesItself(String executorId) {
    return true;
  }

  /**
   * Who has what an executor wrote, as the driver knows it.
   *
   * @param node the block server of its node; empty where that has nothing of it
   * @param gone whether Spark has removed the executor, so that it need not be asked
   */
  record Whereabouts(Optional<PeerAddress> node, boolean gone) {}

  /**
   * Asks the driver who has what an executor wrote, that does not come from where it was thought to
   * be.
   *
   * @return never completes exceptionally: of what the driver does not say is told what is known
   */
  default CompletableFuture<Whereabouts> find(String executorId) {
    return CompletableFuture.completedFuture(new Whereabouts(node(executorId), false));
  }

  /**
   * Tells the driver that a node's block server has not answered this process. Where that has no
   * answer of it either, what executors that are gone have there is lost, all of it, before this
   * completes.
   *
   * @return never completes exceptionally
   */
  default CompletableFuture<Void> report(PeerAddress silentNode) {
    return CompletableFuture.completedFuture(null);
  }

  /** A READ found the location stale: the next {@link #locate} asks the executor. */
  void invalidate(int shuffleId, MapOutputLocation stale);
}
