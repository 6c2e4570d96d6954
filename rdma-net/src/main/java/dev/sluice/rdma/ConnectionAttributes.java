package dev.sluice.rdma;

import java.util.function.Consumer;

/**
 * How a reliable connection behaves: the attributes of ibv_modify_qp(3) that are the application's
 * choice at INIT to RTR and RTR to RTS. What packets carry for the network's sake belongs to the
 * port, so the device is opened with it.
 *
 * @param timeoutExponent local ACK timeout, 4.096 us x 2^n; 0 waits for ever
 * @param retryCount times that a request is repeated before RETRY_EXC_ERR, 0 to 7
 * @param rnrRetry times that a READ is repeated at a peer that is not ready, which first has to
 *     page in memory that was registered ON_DEMAND; 7 is for ever
 * @param minRnrTimer what a responder that is not ready asks the initiator to wait, code 0 to 31
 *     (ibv_modify_qp(3))
 * @param maxRdAtomic READs under way as initiator; the smaller of this and the peer's {@link
 *     QueuePairAddress#maxDestRdAtomic} is used
 */
public record ConnectionAttributes(
    int timeoutExponent, int retryCount, int rnrRetry, int minRnrTimer, int maxRdAtomic) {

  /**
   * A dead path is noticed after about 8.6 s: 1.07 s, eight times. As many READs under way as any
   * device allows: most NICs 16, soft-RoCE and the software provider 128.
   */
  public static final ConnectionAttributes DEFAULT =
      Records.of(ConnectionAttributes.class, new Builder());

  /** These attributes but for what is changed, by name. */
  public ConnectionAttributes with(Consumer<Builder> change) {
    return Records.with(ConnectionAttributes.class, this, new Builder(), change);
  }

  /** These attributes for a device that may allow less. */
  public ConnectionAttributes within(DeviceAttributes device) {
    int allowed = Math.min(maxRdAtomic, device.maxQueuePairInitRdAtomic());
    return with(c -> c.maxRdAtomic = allowed);
  }

  /**
   * What providers do before they change a queue pair's state.
   *
   * @param queuePair for messages
   * @throws VerbsException EINVAL for what is out of its range
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
          "an attribute is out of its range");
    }
  }

  private static boolean isOutside(int value, int max) {
    return value < 0 || value > max;
  }

  /** Nanoseconds after which an unanswered request completes with RETRY_EXC_ERR; 0 is never. */
  public long retryTimeoutNanos() {
    return timeoutExponent == 0 ? 0 : (4096L << timeoutExponent) * (retryCount + 1);
  }

  /** The components, each by its name. */
  public static final class Builder {
    public int timeoutExponent = 18;
    public int retryCount = 7;
    public int rnrRetry = 7;
    public int minRnrTimer = 12;
    public int maxRdAtomic = 128;

    private Builder() {}
  }
}
