// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.VerbsException;
import java.util.function.Consumer;

/**
 * Limits of an open device and its port: the part of ibv_query_device(3) and ibv_query_port(3) that
 * limits requests to the device. A provider makes them when it opens the device. Immutable.
 *
 * @param maxQueuePairs queue pairs
 * @param maxQueuePairWr work requests of one queue
 * @param maxCompletionQueueEntries entries of one completion queue
 * @param maxQueuePairRdAtomic outstanding READs of one queue pair as responder
 * @param maxQueuePairInitRdAtomic outstanding READs of one queue pair as initiator
 * @param maxMessageSize bytes of one work request
 */
public record DeviceAttributes(
    int maxQueuePairs,
    int maxQueuePairWr,
    int maxCompletionQueueEntries,
    int maxQueuePairRdAtomic,
    int maxQueuePairInitRdAtomic,
    long maxMessageSize) {

  /** Limits of zero: the start value for {@link #with}. */
  public static final DeviceAttributes NONE = new Builder().build();

  /** Returns a copy with the components that {@code change} sets by name. */
  public DeviceAttributes with(Consumer<Builder> change) {
    Builder builder = new Builder(this);
    change.accept(builder);
    return builder.build();
  }

  /**
   * Checks a number of entries. Providers call this before they create a completion queue.
   *
   * @throws VerbsException EINVAL for less than 1 entry or more than the device allows
   */
  public void checkCompletionQueue(int entries) throws VerbsException {
    if (entries < 1 || entries > maxCompletionQueueEntries) {
      throw new VerbsException(
          "ibv_create_cq(" + entries + ")",
          VerbsException.EINVAL,
          "the number of entries must be 1 to " + maxCompletionQueueEntries);
    }
  }

  /** Mutable components, set by name: each component has a field of its name here. */
  public static final class Builder {
    public int maxQueuePairs;
    public int maxQueuePairWr;
    public int maxCompletionQueueEntries;
    public int maxQueuePairRdAtomic;
    public int maxQueuePairInitRdAtomic;
    public long maxMessageSize;

    private Builder() {}

    private Builder(DeviceAttributes from) {
      maxQueuePairs = from.maxQueuePairs;
      maxQueuePairWr = from.maxQueuePairWr;
      maxCompletionQueueEntries = from.maxCompletionQueueEntries;
      maxQueuePairRdAtomic = from.maxQueuePairRdAtomic;
      maxQueuePairInitRdAtomic = from.maxQueuePairInitRdAtomic;
      maxMessageSize = from.maxMessageSize;
    }

    private DeviceAttributes build() {
      return new DeviceAttributes(
          maxQueuePairs,
          maxQueuePairWr,
          maxCompletionQueueEntries,
          maxQueuePairRdAtomic,
          maxQueuePairInitRdAtomic,
          maxMessageSize);
    }
  }
}
