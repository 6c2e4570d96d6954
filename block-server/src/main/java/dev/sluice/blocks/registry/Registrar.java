// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.directory.RegistrationBudget;
import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.blocks.directory.RegistrationBudget.NoRoomException;
import dev.sluice.blocks.directory.RegistrationUnavailableException;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.Counters;
import dev.sluice.verbs.VerbsException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers map outputs one after the other or has them staged, makes room for them, and announces
 * them. The {@link MapOutputRegistry} creates it, and calls it on the thread {@code
 * sluice-register}. The {@link RegistrationQueue} calls it on threads that have opened files. This
 * guards all fields, also while a registration waits for a disk. It has nothing to close.
 *
 * <p>A READ of deregistered memory breaks the peer's queue pair and fails all other READs on it.
 * Eviction therefore has two steps: a shuffle is withdrawn, and deregistered when no reader has
 * READ it for {@link #GRACE_MS} since then. Map outputs that find no room meanwhile are staged.
 * {@link #tidy} makes room before it is needed.
 *
 * <p>Finding a shuffle to withdraw looks at every shuffle once: cheap compared with mapping a file.
 */
final class Registrar {
  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);

  /** Grace period; longer than the interval at which active readers send touch messages. */
  static final long GRACE_MS = Touch.INTERVAL_MS + 5_000;

  private final RegistryLimits limits;
  private final RegistrationBudget budget;
  private final ShuffleEpochs epochs;
  private final MapOutputListener listener;
  private final Counters<RegistryCounter> counters;
  private final LongSupplier clockMs;

  /** Shuffles that were withdrawn and will be deregistered. */
  private final Map<ShuffleOutputs, Withdrawal> withdrawn = new HashMap<>();

  /**
   * @param lastReadMs time of the last READ when the shuffle was withdrawn; a different value later
   *     shows a new READ
   */
  private record Withdrawal(long atMs, long lastReadMs) {}

  Registrar(
      RegistryLimits limits,
      RegistrationBudget budget,
      ShuffleEpochs epochs,
      MapOutputListener listener,
      Counters<RegistryCounter> counters,
      LongSupplier clockMs) {
    this.limits = limits;
    this.budget = budget;
    this.epochs = epochs;
    this.listener = listener;
    this.counters = counters;
    this.clockMs = clockMs;
  }

  /** Registers an opened map output. Counts and logs it if it cannot be registered. */
  synchronized void register(PendingRegistration registration) {
    registration.shuffle().touch(); // A new map output shows that the shuffle is in use.
    tidy();
    registerNew(registration.shuffle(), registration);
  }

  private void registerNew(ShuffleOutputs shuffle, PendingRegistration registration) {
    long mapId = registration.mapId();
    MapOutput output = null;
    try {
      output = registerOrStage(shuffle, registration);
    } catch (NoSuchFileException | FileNotFoundException e) {
      counters.add(RegistryCounter.GONE, 1);
      LOG.debug(
          "Shuffle {}: map output {} no longer exists: {}", shuffle.id(), mapId, e.getMessage());
    } catch (IOException | RuntimeException | InternalError | OutOfMemoryError e) {
      shuffle.failed(registration);
      counters.add(RegistryCounter.REJECTIONS, 1);
      LOG.warn(
          "Shuffle {}: map output {} cannot be registered; its blocks fall back: {}",
          shuffle.id(),
          mapId,
          e.toString());
      LOG.debug("Shuffle {}: registration of map output {} failed", shuffle.id(), mapId, e);
    }
    if (output != null) {
      counters.add(RegistryCounter.REGISTRATIONS, 1);
      MapOutputLocation location = output.location();
      if (!location.segment().isRegistered()) {
        counters.add(RegistryCounter.STAGED_OUTPUTS, 1);
      }
      announce(() -> listener.registered(shuffle.id(), location));
    }
  }

  private @Nullable MapOutput registerOrStage(
      ShuffleOutputs shuffle, PendingRegistration registration) throws IOException {
    if (!shuffle.pending().has(registration)) {
      return null; // It was cancelled while its files were opened.
    }
    if (registration.found().registers()) {
      try {
        return shuffle.register(registration);
      } catch (NoRoomException e) {
        LOG.debug("{} will be staged: {}", registration, e.getMessage());
        if (budget.canEverFit(e.cost())) { // Room comes only after the grace period.
          makeRoom(shuffle, leaving -> budget.fits(e.cost(), leaving));
        }
      } catch (RegistrationUnavailableException | VerbsException | OutOfMemoryError e) {
        LOG.debug("{} cannot be registered and will be staged", registration, e);
      }
    }
    return shuffle.stage(registration);
  }

  /**
   * Deregisters withdrawn shuffles whose grace period is over, and withdraws more if room gets
   * short. Called every second and before each registration.
   */
  synchronized void tidy() {
    endGraces();
    makeRoom(null, leaving -> !budget.isTight(leaving));
  }

  /**
   * Withdraws idle shuffles until there is enough room.
   *
   * @param asking shuffle that needs room and is not withdrawn itself; null for none
   * @param suffices true if there is enough room once this cost has been released
   */
  private void makeRoom(@Nullable ShuffleOutputs asking, Predicate<Cost> suffices) {
    Cost leaving = Cost.NONE;
    for (ShuffleOutputs next : withdrawn.keySet()) {
      leaving = leaving.plus(next.cost());
    }
    while (!suffices.test(leaving)) {
      ShuffleOutputs next = leastRecentlyRead(asking);
      if (next == null) {
        return;
      }
      withdraw(next, "it is idle, and others need its room");
      leaving = leaving.plus(next.cost());
    }
  }

  /** Returns the idle shuffle with memory or regions that was READ least recently, or null. */
  private @Nullable ShuffleOutputs leastRecentlyRead(@Nullable ShuffleOutputs asking) {
    long idleSinceMs = clockMs.getAsLong() - limits.idleMs();
    return epochs
        .all()
        .filter(shuffle -> shuffle != asking && !shuffle.cost().equals(Cost.NONE))
        .filter(shuffle -> shuffle.lastReadMs() <= idleSinceMs && !withdrawn.containsKey(shuffle))
        .min(Comparator.comparingLong(ShuffleOutputs::lastReadMs))
        .orElse(null);
  }

  private void withdraw(ShuffleOutputs shuffle, String reason) {
    withdrawn.put(shuffle, new Withdrawal(clockMs.getAsLong(), shuffle.lastReadMs()));
    announce(() -> listener.withdrawn(shuffle.id()));
    LOG.info("Shuffle {} will be deregistered: {}", shuffle.id(), reason);
  }

  /** Deregisters withdrawn shuffles after their grace period, and keeps those READ since. */
  private void endGraces() {
    long nowMs = clockMs.getAsLong();
    for (ShuffleOutputs shuffle : List.copyOf(withdrawn.keySet())) {
      Withdrawal withdrawal = requireNonNull(withdrawn.get(shuffle));
      if (shuffle.lastReadMs() != withdrawal.lastReadMs()) {
        withdrawn.remove(shuffle);
        for (MapOutputLocation location : shuffle.locations()) {
          announce(() -> listener.registered(shuffle.id(), location));
        }
      } else if (nowMs - withdrawal.atMs() >= GRACE_MS) {
        withdrawn.remove(shuffle);
        deregister(shuffle);
      }
    }
  }

  private void deregister(ShuffleOutputs shuffle) {
    if (epochs.get(shuffle.id()) == shuffle) { // It may have been unregistered meanwhile.
      shuffle.evict();
      epochs.dropIfUnused(shuffle);
      counters.add(RegistryCounter.EVICTIONS, 1);
    }
  }

  /** Withdraws the shuffle and announces that. Its map outputs may be registered again later. */
  synchronized void evict(ShuffleOutputs shuffle) {
    if (!withdrawn.containsKey(shuffle)) {
      withdraw(shuffle, "no known reader needs it any more");
    }
  }

  /** Calls the listener, which never blocks. The caller holds no shuffle's lock. */
  private static void announce(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Announcing a registration or withdrawal failed", e);
    }
  }
}
