// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.transport;

import dev.sluice.rdma.transfer.ReadException;

/**
 * Reason why blocks fell back to Spark's own transport instead of being READ. The step that fails
 * chooses it, on any thread, and {@code ShuffleCounters} counts by it. Each has two counters of
 * this name, which users see, so names stay.
 */
public enum FallbackReason {
  /** The executor runs without RDMA, or the job has turned READs off. */
  OFF,
  /** The peer has no RDMA endpoint of the same provider. */
  PEER,
  /** The peer does not have the map output, or cannot read its files: migrated, gone. */
  NOT_REGISTERED,
  /**
   * The peer did not stage the bytes in time, or did not say where they lie in map outputs that it
   * has not registered, or its leases were too short for the network.
   */
  STAGING,
  /** The location was stale, also after it was resolved again. */
  STALE_LOCATION,
  /** No queue pair could be connected. */
  CONNECT,
  /** The READ failed, also on a fresh queue pair, or was invalid itself; or the device failed. */
  TRANSPORT,
  /** The READ did not end by its deadline. */
  DEADLINE,
  /**
   * The READ, or others from the peer, took much longer than most, so Spark's transfer was asked.
   */
  LATE,
  /** The peer's breaker is open: the peer is not tried for some time. */
  CIRCUIT_OPEN,
  /** This executor stops: its endpoint is closed. */
  CLOSED,
  /** No buffer became free in time, or there was no memory for a large block. */
  BUFFERS,
  /** The bytes differed from Spark's checksum, twice. */
  CHECKSUM,
  /** Spark encrypts its network, and READs are neither encrypted nor authenticated. */
  WIRE_ENCRYPTION,
  /** The READ bytes could not be written to disk. */
  DISK,
  /** A block of a kind that is not READ: push-merged, or empty, which is an error to Spark. */
  BLOCK_KIND;

  /** Returns the reason with the same name as the cause of a failed READ. */
  public static FallbackReason of(ReadException failure) {
    return switch (failure.failure()) {
      case STALE_LOCATION -> STALE_LOCATION;
      case CONNECT -> CONNECT;
      case TRANSPORT -> TRANSPORT;
      case DEADLINE -> DEADLINE;
      case CIRCUIT_OPEN -> CIRCUIT_OPEN;
      case CLOSED -> CLOSED;
    };
  }
}
