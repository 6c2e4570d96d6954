// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

/**
 * Channel on which completion queues raise events, so that a thread can sleep until there is a
 * completion to poll (ibv_create_comp_channel(3)). One thread waits at a time: the read thread of
 * an endpoint. The endpoint closes it.
 *
 * <p>The safe order is: {@link CompletionQueue#requestNotify}, poll once more, then wait. In any
 * other order a completion between poll and arm is lost (ibv_get_cq_event(3)).
 */
public interface CompletionChannel extends AutoCloseable {
  /**
   * Waits for a completion event, then takes and acknowledges all pending events.
   *
   * @param timeoutMs 0 returns at once
   * @return true if there was an event; false after a timeout, a {@link #wakeUp} or {@code close}
   */
  boolean await(long timeoutMs);

  /** Makes the current or the next {@link #await} return without an event. Any thread. */
  void wakeUp();

  @Override
  void close();
}
