// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.spark.locate.DirectoryMessage.LiveExecutors;
import dev.sluice.spark.locate.DirectoryMessage.Locate;
import dev.sluice.spark.locate.DirectoryMessage.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A generation of one shuffle's table in the {@link LocationDirectory}, which makes it and uses it
 * under its lock. Records are only added to it. It decides when a broadcast is due; the directory
 * makes it without the lock.
 */
final class PublishedShuffle {
  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final long generation;
  private final LocationLog log;
  private final int minBroadcastBytes;
  private final int maxDirectBytes;

  /** Broadcasts of this generation; executors may still fetch older ones than the last. */
  private final List<Broadcasts.Shipped> shipped = new ArrayList<>();

  /** Bytes of the records in the last broadcast. */
  private int shippedBytes;

  /** Bytes of the records in the last broadcast that was begun; it may have failed. */
  private int begunBytes;

  /** The pending broadcast, or the last one. */
  private CompletableFuture<Void> shipping = DONE;

  /**
   * @param log its records are those of this generation
   * @param minBroadcastBytes size from which records that an asker lacks go by broadcast
   * @param maxDirectBytes maximum bytes of records in an answer
   */
  PublishedShuffle(long generation, LocationLog log, int minBroadcastBytes, int maxDirectBytes) {
    this.generation = generation;
    this.log = log;
    this.minBroadcastBytes = minBroadcastBytes;
    this.maxDirectBytes = maxDirectBytes;
  }

  LocationLog log() {
    return log;
  }

  /** Returns the broadcasts to destroy when this generation ends. */
  List<Broadcasts.Shipped> shipped() {
    return shipped;
  }

  /**
   * Returns the broadcast that the asker needs, and begins it if it does not exist.
   *
   * @param ship makes a broadcast of these records, and completes normally when it is published or
   *     has failed
   * @return completes normally when the question can be answered
   * @throws IOException if the asker claims to know records that do not exist
   */
  CompletableFuture<Void> broadcast(Locate locate, Function<byte[], CompletableFuture<Void>> ship)
      throws IOException {
    int known = known(locate);
    if (known < 0 || known > log.bytes()) {
      throw new IOException("there are no more records than " + log.bytes() + " bytes: " + locate);
    }
    if (log.bytes() - known < minBroadcastBytes) {
      return DONE;
    }
    // A broadcast that failed is tried again only after minBroadcastBytes more bytes of records.
    if (shipping.isDone() && log.bytes() - begunBytes >= minBroadcastBytes) {
      shipping = ship.apply(log.records(0));
      begunBytes = log.bytes(); // not earlier: a broadcast that could not begin is tried again
    }
    return shipping;
  }

  /**
   * Takes a broadcast.
   *
   * @param bytes bytes of its records
   */
  void published(Broadcasts.Shipped broadcast, int bytes) {
    shipped.add(broadcast);
    shippedBytes = bytes;
  }

  /**
   * Answers a question with the records that follow those the asker knows. Omits records that are
   * in no broadcast and do not fit the message: readers ask peers for those locations.
   */
  Table table(Locate locate, LiveExecutors executors) {
    int known = known(locate);
    // The asker replaces its table if generation or broadcast are new to it; otherwise it appends.
    boolean byBroadcast = shippedBytes > known && log.bytes() - known >= minBroadcastBytes;
    byte[] handle = byBroadcast ? shipped.getLast().handle() : new byte[0];
    int from = byBroadcast ? shippedBytes : known;
    byte[] records = log.bytes() - from <= maxDirectBytes ? log.records(from) : new byte[0];
    return new Table(generation, handle, records, executors);
  }

  private int known(Locate locate) {
    return locate.generation() == generation ? locate.bytes() : 0;
  }
}
