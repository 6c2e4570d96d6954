// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.PageSize;
import java.util.function.Consumer;

/**
 * Limits and times of an endpoint. Made from the settings of an executor, a node daemon or the
 * doctor. Immutable.
 *
 * @param bufferPoolBytes limit of the buffer pool's registered bytes
 * @param maxBufferBytes size of the largest buffer, if the pool has room for four of it. Memory is
 *     registered in pieces of this size.
 * @param maxQueuePairs limit of connecting queue pairs, and also of accepted ones
 * @param sendQueueDepth outstanding work requests of a queue pair
 * @param maxReadBytes bytes of one READ work request; longer ranges are split
 * @param connectTimeoutMs time after which an unfinished connection attempt has failed
 * @param idleTimeoutMs time without READs after which a queue pair is closed
 * @param circuitFailures failures in a row after which a peer is not tried for a while
 * @param circuitCooldownMs length of that while
 * @param spinMicros time that the completion thread polls before it sleeps
 * @param connection attributes of the connections
 */
public record TransferOptions(
    long bufferPoolBytes,
    int maxBufferBytes,
    int maxQueuePairs,
    int sendQueueDepth,
    int maxReadBytes,
    int connectTimeoutMs,
    int idleTimeoutMs,
    int circuitFailures,
    int circuitCooldownMs,
    int spinMicros,
    ConnectionAttributes connection) {

  /** Bytes of one queue pair for its receive queue and other queues than that of READs. */
  private static final int OTHER_QUEUES_BYTES = 4096;

  /** More than the doorbell of a queue pair takes of a page that it shares with others. */
  private static final int DOORBELL_BYTES = 4096;

  /** Defaults of the configuration, for an executor with Spark's minimum memory overhead. */
  public static final TransferOptions DEFAULT = new Builder().build();

  public TransferOptions {
    atLeast("bufferPoolBytes", bufferPoolBytes, Slab.PAGE_BYTES);
    atLeast("maxBufferBytes", maxBufferBytes, Slab.PAGE_BYTES);
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
   * Maximum memory that the queue pairs pin, in addition to registered memory. On mlx5 each READ of
   * a send queue takes 64 bytes, and each queue pair takes whole pages for its queues, and a
   * doorbell.
   */
  public long queuePairBytes() {
    return maxQueuePairs * queuePairBytes((long) sendQueueDepth * 64) + acceptedQueuePairBytes();
  }

  /** Part of it that accepted queue pairs pin: all of it in a process that never READs. */
  public long acceptedQueuePairBytes() {
    return maxQueuePairs * queuePairBytes(0);
  }

  private static long queuePairBytes(long sendQueueBytes) {
    return PageSize.roundUp(sendQueueBytes + OTHER_QUEUES_BYTES) + DOORBELL_BYTES;
  }

  /** Returns a copy with the components that {@code change} sets by name. */
  public TransferOptions with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /** Returns these options, limited to the outstanding READs that the device allows. */
  TransferOptions within(DeviceAttributes device) {
    return with(o -> o.connection = connection.within(device));
  }

  private static void atLeast(String option, long value, long least) {
    if (value < least) {
      throw new IllegalArgumentException(option + " is " + value + ", must be at least " + least);
    }
  }

  /**
   * Mutable components, set by name: each component has a field of its name here. The values are
   * the defaults.
   */
  public static final class Builder {
    public long bufferPoolBytes = 48 << 20;
    public int maxBufferBytes = BufferPool.MAX_BUFFER_BYTES;
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

    private Builder(TransferOptions from) {
      bufferPoolBytes = from.bufferPoolBytes;
      maxBufferBytes = from.maxBufferBytes;
      maxQueuePairs = from.maxQueuePairs;
      sendQueueDepth = from.sendQueueDepth;
      maxReadBytes = from.maxReadBytes;
      connectTimeoutMs = from.connectTimeoutMs;
      idleTimeoutMs = from.idleTimeoutMs;
      circuitFailures = from.circuitFailures;
      circuitCooldownMs = from.circuitCooldownMs;
      spinMicros = from.spinMicros;
      connection = from.connection;
    }

    private TransferOptions build() {
      return new TransferOptions(
          bufferPoolBytes,
          maxBufferBytes,
          maxQueuePairs,
          sendQueueDepth,
          maxReadBytes,
          connectTimeoutMs,
          idleTimeoutMs,
          circuitFailures,
          circuitCooldownMs,
          spinMicros,
          connection);
    }
  }
}
