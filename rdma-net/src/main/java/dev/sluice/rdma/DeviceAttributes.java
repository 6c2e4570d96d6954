package dev.sluice.rdma;

import java.util.function.Consumer;

/**
 * Limits of an open device and its port: the part of ibv_query_device(3) and ibv_query_port(3) that
 * decides what can be asked for.
 *
 * @param maxQueuePairs queue pairs
 * @param maxQueuePairWr work requests of one queue
 * @param maxCompletionQueueEntries entries of one completion queue
 * @param maxQueuePairRdAtomic READs that one queue pair serves at a time
 * @param maxQueuePairInitRdAtomic READs that one queue pair has under way
 * @param maxMessageSize bytes of one work request
 */
public record DeviceAttributes(
    int maxQueuePairs,
    int maxQueuePairWr,
    int maxCompletionQueueEntries,
    int maxQueuePairRdAtomic,
    int maxQueuePairInitRdAtomic,
    long maxMessageSize) {

  /** Allows nothing: what limits are set out from. */
  public static final DeviceAttributes NONE = Records.of(DeviceAttributes.class, new Builder());

  /** These limits but for what is changed, by name. */
  public DeviceAttributes with(Consumer<Builder> change) {
    return Records.with(DeviceAttributes.class, this, new Builder(), change);
  }

  /**
   * What providers do before they create a completion queue.
   *
   * @throws VerbsException EINVAL for more entries than there may be, or none
   */
  public void checkCompletionQueue(int entries) throws VerbsException {
    if (entries < 1 || entries > maxCompletionQueueEntries) {
      throw new VerbsException(
          "ibv_create_cq(" + entries + ")",
          VerbsException.EINVAL,
          "a completion queue has 1 to " + maxCompletionQueueEntries + " entries");
    }
  }

  /** The components, each by its name. */
  public static final class Builder {
    public int maxQueuePairs;
    public int maxQueuePairWr;
    public int maxCompletionQueueEntries;
    public int maxQueuePairRdAtomic;
    public int maxQueuePairInitRdAtomic;
    public long maxMessageSize;

    private Builder() {}
  }
}
