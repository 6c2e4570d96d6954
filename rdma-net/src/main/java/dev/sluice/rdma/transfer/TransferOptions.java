package dev.sluice.rdma.transfer;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.Records;
import java.util.function.Consumer;

/**
 * Limits and times of an endpoint.
 *
 * @param bufferPoolBytes registered bytes of the buffer pool at most
 * @param maxQueuePairs queue pairs at most, connecting and accepted ones each
 * @param sendQueueDepth work requests under way on a queue pair
 * @param maxReadBytes bytes of one READ work request; longer ranges are split
 * @param connectTimeoutMs a queue pair that is not connected by then has failed
 * @param idleTimeoutMs a queue pair without READs for so long is closed
 * @param circuitFailures failures in a row after which a peer is not tried for a while
 * @param circuitCooldownMs how long
 * @param spinMicros how long the completion thread polls before it sleeps
 * @param connection attributes of the connections
 */
public record TransferOptions(
    long bufferPoolBytes,
    int maxQueuePairs,
    int sendQueueDepth,
    int maxReadBytes,
    int connectTimeoutMs,
    int idleTimeoutMs,
    int circuitFailures,
    int circuitCooldownMs,
    int spinMicros,
    ConnectionAttributes connection) {

  private static final int PINNED_PAGES_BYTES = 2 * 4096;

  /** The configuration's defaults, in an executor with as little memory overhead as Spark gives. */
  public static final TransferOptions DEFAULT = Records.of(TransferOptions.class, new Builder());

  public TransferOptions {
    atLeast("bufferPoolBytes", bufferPoolBytes, Slab.PAGE_BYTES);
    atLeast("maxQueuePairs", maxQueuePairs, 1);
    atLeast("sendQueueDepth", sendQueueDepth, 1);
    atLeast("maxReadBytes", maxReadBytes, 1);
    atLeast("connectTimeoutMs", connectTimeoutMs, 1);
    atLeast("idleTimeoutMs", idleTimeoutMs, 1);
    atLeast("circuitFailures", circuitFailures, 1);
    atLeast("circuitCooldownMs", circuitCooldownMs, 0);
    atLeast("spinMicros", spinMicros, 0);
  }

  /**
   * What the queue pairs of so many peers pin at most, beside registered memory: on mlx5 each READ
   * of a send queue takes 256 bytes, and each queue pair whole pages for its queues and its
   * doorbell.
   */
  public long queuePairBytes() {
    long connecting = (long) sendQueueDepth * 256 + PINNED_PAGES_BYTES;
    return maxQueuePairs * connecting + acceptedQueuePairBytes();
  }

  /** What of it accepted queue pairs do: all of it in a process that never READs. */
  public long acceptedQueuePairBytes() {
    return (long) maxQueuePairs * PINNED_PAGES_BYTES;
  }

  /** These options but for what is changed, by name. */
  public TransferOptions with(Consumer<Builder> change) {
    return Records.with(TransferOptions.class, this, new Builder(), change);
  }

  /** These options for a device that may allow fewer READs under way. */
  TransferOptions within(DeviceAttributes device) {
    return with(o -> o.connection = connection.within(device));
  }

  private static void atLeast(String option, long value, long least) {
    if (value < least) {
      throw new IllegalArgumentException(option + " is " + value + ", must be at least " + least);
    }
  }

  /** The components, each by its name. */
  public static final class Builder {
    public long bufferPoolBytes = 48 << 20;
    public int maxQueuePairs = 1024;
    public int sendQueueDepth = 256;
    public int maxReadBytes = 1 << 20;
    public int connectTimeoutMs = 5_000;
    public int idleTimeoutMs = 300_000;
    public int circuitFailures = 3;
    public int circuitCooldownMs = 60_000;
    public int spinMicros = 20;
    public ConnectionAttributes connection = ConnectionAttributes.DEFAULT;

    private Builder() {}
  }
}
