// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.wire.LifetimeMessages.NodeResponse;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.node.HeldShuffles.Held;
import dev.sluice.rdma.transfer.DaemonThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes shuffles of one application that are over. Its own thread waits for the disk, and ends
 * when there is nothing to do. The {@link ServedApplication} creates it, calls it on the
 * transport's threads, and closes it.
 */
final class ShuffleRemover implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleRemover.class);

  private final HeldShuffles held;
  private final MapOutputRegistry registry;
  private final ExecutorService thread = DaemonThreads.atMost(1, "sluice-node-remove");
  private final AtomicBoolean renewing = new AtomicBoolean();

  ShuffleRemover(HeldShuffles held, MapOutputRegistry registry) {
    this.held = held;
    this.registry = registry;
  }

  /**
   * Removes a shuffle that is over. Completes when its present map outputs are gone. New ones may
   * be written under the same id before the thread gets to it.
   */
  CompletableFuture<Void> remove(int shuffleId) {
    Map<Long, Held> outputs = held.remove(shuffleId);
    return CompletableFuture.runAsync(() -> remove(shuffleId, outputs), thread);
  }

  /**
   * Soon removes all shuffles that are not listed as live, unless a map output was added since.
   * Renewals that come faster than the disk works are dropped.
   */
  void removeBut(Renew live) {
    if (!renewing.compareAndSet(false, true)) {
      return;
    }
    CompletableFuture.runAsync(() -> removeAllBut(live.liveShuffles(), live.lastHeard()), thread)
        .whenComplete(
            (_, failure) -> {
              renewing.set(false);
              if (failure != null) {
                LOG.warn(
                    "Removing ended shuffles failed; some of their files stay for now", failure);
              }
            });
  }

  private void removeAllBut(int[] live, NodeResponse since) {
    Set<Integer> over = new HashSet<>(held.ids());
    Arrays.stream(live).forEach(over::remove);
    for (int shuffleId : over) {
      remove(shuffleId, held.removeIfOlder(shuffleId, since.nodeNanos()));
    }
  }

  /**
   * @param outputs forgotten already; others may be added to the shuffle meanwhile
   */
  private void remove(int shuffleId, Map<Long, Held> outputs) {
    if (outputs.isEmpty()) {
      return;
    }
    IOException failure = null;
    for (Map.Entry<Long, Held> output : outputs.entrySet()) {
      try {
        output.getValue().folder().remove(shuffleId, output.getKey());
      } catch (IOException e) {
        failure = e; // One failing disk does not keep files on others.
      }
    }
    registry.invalidate(shuffleId, outputs.keySet());
    if (failure != null) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    thread.shutdown();
  }
}
