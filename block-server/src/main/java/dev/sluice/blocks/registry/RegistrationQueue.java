// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.wire.MapOutputLocation;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Map outputs that wait to be registered, by the directories of their files. The {@link
 * MapOutputRegistry} creates and stops it. Any thread adds map outputs and never waits.
 *
 * <p>With several local directories, {@link #OPENERS} threads {@code sluice-open} open the files,
 * so that a disk that does not answer delays only its own map outputs ({@link DiskThreads}). Each
 * then has the {@link Registrar} register what it has opened. Readers wait for a registration that
 * has begun, so each comes to {@link #finish}.
 */
final class RegistrationQueue {
  private static final Logger LOG = LoggerFactory.getLogger(RegistrationQueue.class);

  /**
   * Number of threads that open map outputs. While three disks hang, four threads remain, and each
   * other directory may use one of them. A map output of MapReduce may lie in any directory. One of
   * a job's waits for a disk that hangs, and the others go on without that disk.
   */
  private static final int OPENERS = 16;

  /** Limit of map outputs of one directory that are opened at the same time. */
  private static final int PER_DIRECTORY = 4;

  private static final DiskThreads.Limits ONE_BY_ONE = new DiskThreads.Limits(1, 1, 1);

  /** Stands for all directories where map outputs are opened one by one. */
  private static final BitSet ANYWHERE = BitSet.valueOf(new long[] {1});

  /**
   * Maximum number of map outputs in the same directories that wait to be opened, 500 bytes each.
   * Others are registered when a reader resolves them.
   */
  private static final int MAX_WAITING = 100_000;

  /** Maximum number of resolve requests that wait for map outputs, 32 KB each at most. */
  private static final int MAX_REQUESTS = 10_000;

  private final LocalDirectories directories;
  private final MapOutputFiles outputs;
  private final RegistryLimits limits;
  private final ShuffleEpochs epochs;
  private final Registrar registrar;
  private final LongSupplier clockMs;

  /** With a single directory it uses the registry's thread, since that delays nothing else. */
  private final DiskThreads openers;

  private final AtomicInteger requests = new AtomicInteger();

  /** Opens a map output, and then has it registered. */
  private final class Opening implements DiskThreads.Task {
    private final PendingRegistration registration;

    Opening(PendingRegistration registration) {
      this.registration = registration;
    }

    @Override
    public void run() {
      Throwable failure = null;
      try {
        if (registration.shuffle().pending().has(registration)) {
          registration.open(outputs, directories, clockMs.getAsLong());
          registrar.register(registration);
        }
      } catch (Throwable e) { // Errors too: readers wait for the end of this registration.
        failure = e;
      }
      finish(registration, failure);
    }

    @Override
    public void refused(Throwable reason) {
      finish(registration, reason);
    }
  }

  /**
   * @param thread the registry's thread, which its creator stops after the queue
   */
  RegistrationQueue(
      LocalDirectories directories,
      MapOutputFiles outputs,
      RegistryLimits limits,
      ShuffleEpochs epochs,
      Registrar registrar,
      ExecutorService thread,
      LongSupplier clockMs) {
    this.directories = directories;
    this.outputs = outputs;
    this.limits = limits;
    this.epochs = epochs;
    this.registrar = registrar;
    this.clockMs = clockMs;
    int places = directories.count() + 1; // one more for files outside
    openers =
        directories.count() > 1
            ? new DiskThreads(
                "sluice-open",
                new DiskThreads.Limits(OPENERS, PER_DIRECTORY, outputs.together()),
                places)
            : new DiskThreads(thread, ONE_BY_ONE, places);
  }

  /**
   * Registers a map output soon, unless it is registered or pending already, or it is too early to
   * try again. The caller has entered the shuffle's epoch.
   *
   * @param files the map output's files; null to find them
   */
  void add(ShuffleOutputs shuffle, long mapId, MapOutputFiles.@Nullable Files files) {
    if (!shuffle.lacks(mapId)) {
      return;
    }
    BitSet places = places(shuffle.id(), mapId);
    PendingRegistration registration = new PendingRegistration(shuffle, mapId, files);
    if (openers.waiting(places) >= MAX_WAITING || !shuffle.pending().add(registration)) {
      return;
    }
    try {
      openers.execute(places, new Opening(registration));
    } catch (Throwable e) { // No memory: the registration must not stay pending.
      finish(registration, e);
    }
  }

  private BitSet places(int shuffleId, long mapId) {
    return directories.count() > 1
        ? directories.indexesOf(outputs.paths(shuffleId, mapId))
        : ANYWHERE;
  }

  /** Adds map outputs, and returns their locations once they are registered, or have failed. */
  CompletableFuture<List<@Nullable MapOutputLocation>> resolve(
      ShuffleOutputs shuffle, long[] mapIds) {
    for (long mapId : mapIds) {
      add(shuffle, mapId, null);
    }
    if (requests.incrementAndGet() > MAX_REQUESTS) {
      requests.decrementAndGet();
      return CompletableFuture.completedFuture(shuffle.locations(mapIds));
    }
    return shuffle
        .pending()
        .await(mapIds)
        .completeOnTimeout(null, limits.resolveMs(), TimeUnit.MILLISECONDS)
        .thenApply(
            _ -> {
              requests.decrementAndGet();
              return shuffle.locations(mapIds);
            });
  }

  /**
   * @param failure null if the registration was tried; else the reason why not, such as closing, or
   *     a defect that it met
   */
  private void finish(PendingRegistration registration, @Nullable Throwable failure) {
    registration.close();
    registration.shuffle().pending().finish(registration);
    epochs.dropIfUnused(registration.shuffle());
    if (failure instanceof RejectedExecutionException) {
      LOG.debug("{} is not registered: the registry is closed", registration);
    } else if (failure != null) {
      LOG.error("Registering {} failed", registration, failure);
    }
  }

  /**
   * Refuses the waiting map outputs. Idempotent.
   *
   * @param timeoutMs maximum time to wait for threads that open files
   * @return true if these have ended
   */
  boolean stop(long timeoutMs) {
    return openers.stop(timeoutMs);
  }
}
