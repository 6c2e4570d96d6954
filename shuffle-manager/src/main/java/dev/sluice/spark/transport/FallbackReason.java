package dev.sluice.spark.transport;

import dev.sluice.rdma.transfer.ReadException;

/** Why blocks went by Spark's own transfer instead of READ. */
public enum FallbackReason {
  /** The executor runs without RDMA. */
  OFF,
  /** The peer has no RDMA endpoint of the same provider. */
  PEER,
  /** The peer does not have the map output, or cannot read its files: migrated, gone. */
  NOT_REGISTERED,
  /**
   * The peer did not stage the bytes in time, or say where they lie in what it has not registered,
   * or its leases were too short for the network.
   */
  STAGING,
  /** The location was stale, also when it was resolved again. */
  STALE_LOCATION,
  /** No queue pair could be connected. */
  CONNECT,
  /** The READ failed, also on a fresh queue pair, or was wrong in itself; or the device failed. */
  TRANSPORT,
  /** The READ was not done by its deadline. */
  DEADLINE,
  /** The peer is not tried for a while. */
  CIRCUIT_OPEN,
  /** This executor stops: its endpoint is closed. */
  CLOSED,
  /** No buffer became free in time, or there was no memory for a large block. */
  BUFFERS,
  /** The bytes did not match Spark's checksum, twice. */
  CHECKSUM,
  /** Spark encrypts its network, and READs are neither encrypted nor authenticated. */
  WIRE_ENCRYPTION,
  /** What was READ could not be written to disk. */
  DISK,
  /** A block of a kind that is not READ: push-merged, or empty, which Spark takes for an error. */
  BLOCK_KIND;

  /** The reason of the same name as the cause of a failed READ. */
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
