// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.VerbsException;
import java.util.function.Consumer;

/**
 * Parameters of a reliable connection: the attributes of ibv_modify_qp(3) that the application
 * chooses for INIT to RTR and RTR to RTS. Attributes of the network, such as the service level,
 * belong to the port and are given when the device is opened. The configuration makes them; a queue
 * pair takes them at {@link QueuePair#toRtr}. Immutable.
 *
 * @param timeoutExponent local ACK timeout, 4.096 us x 2^n; 0 waits for ever
 * @param retryCount retransmissions of a request before RETRY_EXC_ERR, 0 to 7
 * @param rnrRetry retries of a READ while the peer is not ready, for example because it has to page
 *     in ON_DEMAND memory first; 7 retries for ever
 * @param minRnrTimer delay that this side, as responder, asks of the initiator while it is not
 *     ready; code 0 to 31 (ibv_modify_qp(3))
 * @param maxRdAtomic outstanding READs as initiator; the connection uses the smaller of this and
 *     the peer's {@link QueuePairAddress#maxDestRdAtomic}
 */
public record ConnectionAttributes(
    int timeoutExponent, int retryCount, int rnrRetry, int minRnrTimer, int maxRdAtomic) {

  /**
   * Detects a dead path after about 8.6 s: 8 attempts of 1.07 s. Allows 128 outstanding READs, the
   * most of any device: most NICs allow 16, soft-RoCE and the software provider 128.
   */
  public static final ConnectionAttributes DEFAULT = new Builder().build();

  /** Returns a copy with the components that {@code change} sets by name. */
  public ConnectionAttributes with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /** Returns these attributes, limited to the outstanding READs that the device allows. */
  public ConnectionAttributes within(DeviceAttributes device) {
    int allowed = Math.min(maxRdAtomic, device.maxQueuePairInitRdAtomic());
    return with(c -> c.maxRdAtomic = allowed);
  }

  /**
   * Checks the ranges. Providers call this before they change a queue pair's state.
   *
   * @param queuePair for messages
   * @throws VerbsException EINVAL for an attribute that is out of its range
   */
  public void check(QueuePair queuePair, DeviceAttributes device) throws VerbsException {
    if (isOutside(timeoutExponent, 31)
        || isOutside(retryCount, 7)
        || isOutside(rnrRetry, 7)
        || isOutside(minRnrTimer, 31)
        || isOutside(maxRdAtomic, device.maxQueuePairInitRdAtomic())) {
      throw new VerbsException(
          "ibv_modify_qp(" + queuePair + ", RTR, " + this + ")",
          VerbsException.EINVAL,
          "an attribute is out of range");
    }
  }

  private static boolean isOutside(int value, int max) {
    return value < 0 || value > max;
  }

  /** Nanoseconds after which an unanswered request completes with RETRY_EXC_ERR; 0 for never. */
  public long retryTimeoutNanos() {
    return timeoutExponent == 0 ? 0 : (4096L << timeoutExponent) * (retryCount + 1);
  }

  /**
   * Mutable components, set by name: each component has a field of its name here. The values are
   * the defaults.
   */
  public static final class Builder {
    public int timeoutExponent = 18;
    public int retryCount = 7;
    public int rnrRetry = 7;
    public int minRnrTimer = 12;
    public int maxRdAtomic = 128;

    private Builder() {}

    private Builder(ConnectionAttributes from) {
      timeoutExponent = from.timeoutExponent;
      retryCount = from.retryCount;
      rnrRetry = from.rnrRetry;
      minRnrTimer = from.minRnrTimer;
      maxRdAtomic = from.maxRdAtomic;
    }

    private ConnectionAttributes build() {
      return new ConnectionAttributes(
          timeoutExponent, retryCount, rnrRetry, minRnrTimer, maxRdAtomic);
    }
  }
}
