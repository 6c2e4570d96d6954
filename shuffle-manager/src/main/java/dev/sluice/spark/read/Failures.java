package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.spark.metrics.FallbackReason;

/** What a failed READ means for its blocks. */
final class Failures {
  private Failures() {}

  static FallbackReason reason(ReadException failure) {
    return switch (failure.failure()) {
      case STALE_LOCATION -> FallbackReason.STALE_LOCATION;
      case CONNECT -> FallbackReason.CONNECT;
      case TRANSPORT -> FallbackReason.TRANSPORT;
      case DEADLINE -> FallbackReason.DEADLINE;
      case CIRCUIT_OPEN -> FallbackReason.CIRCUIT_OPEN;
      case CLOSED -> FallbackReason.OFF;
    };
  }
}
