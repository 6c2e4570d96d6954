package dev.sluice.blocks;

import dev.sluice.blocks.RegistrationBudget.Cost;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Optional;
import java.util.Queue;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers map outputs one after the other, makes room for them, and announces them. Runs on the
 * registry's thread only, and owns nothing.
 *
 * <p>Finding a shuffle to evict looks at every shuffle once: nothing beside mapping a file.
 */
final class Registrar {
  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);

  private final MapOutputFiles files;
  private final RegistryLimits limits;
  private final RegistrationBudget budget;
  private final ShuffleEpochs epochs;
  private final MapOutputListener listener;
  private final RegistryCounters counters;
  private final LongSupplier clockMs;

  /** Evicted shuffles that the listener does not know of yet. */
  private final Queue<Integer> withdrawals = new ArrayDeque<>();

  private boolean warned;

  Registrar(
      MapOutputFiles files,
      RegistryLimits limits,
      RegistrationBudget budget,
      ShuffleEpochs epochs,
      MapOutputListener listener,
      RegistryCounters counters,
      LongSupplier clockMs) {
    this.files = files;
    this.limits = limits;
    this.budget = budget;
    this.epochs = epochs;
    this.listener = listener;
    this.counters = counters;
    this.clockMs = clockMs;
  }

  /** Registers what is not registered yet; what cannot be is counted and logged. */
  void register(RegisteredShuffle shuffle, long mapId) {
    shuffle.touch();
    if (shuffle.get(mapId) != null) {
      return;
    }
    RegisteredMapOutput output = null;
    try {
      output =
          shuffle.register(
              mapId, files, (memory, cost, table) -> reserve(shuffle, memory, cost, table));
    } catch (NoSuchFileException | FileNotFoundException e) {
      counters.add(RegistryCounter.GONE, 1);
      LOG.debug("Shuffle {}: map output {} is gone: {}", shuffle.id(), mapId, e.getMessage());
    } catch (NoRoomException e) {
      counters.add(RegistryCounter.REFUSALS, 1);
      refused(shuffle, mapId, e);
    } catch (IOException | RuntimeException | InternalError e) {
      counters.add(RegistryCounter.REJECTIONS, 1);
      LOG.warn(
          "Shuffle {}: map output {} cannot be registered and goes by Spark's own transfer: {}",
          shuffle.id(),
          mapId,
          e.toString());
      LOG.debug("Shuffle {}: registration of map output {} failed", shuffle.id(), mapId, e);
    }
    announce(shuffle.id(), output);
  }

  private void reserve(RegisteredShuffle shuffle, ShuffleMemory memory, Cost cost, boolean table)
      throws NoRoomException {
    boolean possible = budget.canEverFit(cost, table);
    while (possible && !memory.reserve(cost, table)) {
      possible = evictLeastRecentlyRead(shuffle);
    }
    if (!possible) {
      throw new NoRoomException(
          "%d bytes and %d regions are needed, %s".formatted(cost.bytes(), cost.regions(), budget),
          null);
    }
  }

  private boolean evictLeastRecentlyRead(RegisteredShuffle asking) {
    long idleSinceMs = clockMs.getAsLong() - limits.idleMs();
    Optional<RegisteredShuffle> victim =
        epochs
            .all()
            .filter(shuffle -> shuffle != asking && !shuffle.isEmpty())
            .filter(shuffle -> shuffle.lastReadMs() <= idleSinceMs)
            .min(Comparator.comparingLong(RegisteredShuffle::lastReadMs));
    victim.ifPresent(shuffle -> withdraw(shuffle, "idle, and room is needed"));
    return victim.isPresent();
  }

  private void withdraw(RegisteredShuffle shuffle, String reason) {
    shuffle.evict();
    epochs.dropIfUnused(shuffle);
    withdrawals.add(shuffle.id());
    counters.add(RegistryCounter.EVICTIONS, 1);
    LOG.info("Shuffle {} is deregistered: {}", shuffle.id(), reason);
  }

  /** Deregisters the shuffle, which may be registered again, and says so. */
  void evict(RegisteredShuffle shuffle) {
    withdraw(shuffle, "nobody reads it any more");
    announce(shuffle.id(), null);
  }

  private void refused(RegisteredShuffle shuffle, long mapId, NoRoomException e) {
    if (warned) {
      LOG.debug("Shuffle {}: no room for map output {}", shuffle.id(), mapId, e);
      return;
    }
    warned = true;
    LOG.warn(
        "Shuffle {}: map output {} is not registered: {}. Its blocks, and those of map outputs that"
            + " find no room later, go by Spark's own transfer. To READ them, raise"
            + " spark.shuffle.rdma.registration.maxBytes, and the executor's memoryOverhead with"
            + " it{}; where the regions are used up, raise vm.max_map_count.",
        shuffle.id(),
        mapId,
        e.getMessage(),
        limits.pinned() ? ", and the limit of locked memory (ulimit -l)" : "",
        e.getCause());
  }

  /** With no lock held. */
  private void announce(int shuffleId, RegisteredMapOutput output) {
    try {
      for (Integer evicted = withdrawals.poll(); evicted != null; evicted = withdrawals.poll()) {
        listener.withdrawn(evicted);
      }
      if (output != null) {
        counters.add(RegistryCounter.REGISTRATIONS, 1);
        listener.registered(shuffleId, output.location());
      }
    } catch (RuntimeException e) {
      LOG.warn("Shuffle {}: what was registered could not be announced", shuffleId, e);
    }
  }
}
