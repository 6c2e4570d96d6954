package dev.sluice.rdma;

/**
 * Where completion queues announce that something can be polled (ibv_create_comp_channel(3)), so
 * that a thread can sleep.
 *
 * <p>The safe order is: {@link CompletionQueue#requestNotify}, poll once more, then wait; otherwise
 * a completion between poll and arm is lost (ibv_get_cq_event(3)).
 */
public interface CompletionChannel extends AutoCloseable {
  /**
   * Waits for a completion event, takes all that are pending and acknowledges them.
   *
   * @param timeoutMs 0 returns at once
   * @return whether there was an event; false after a timeout, a {@link #wakeUp} or {@code close}
   */
  boolean await(long timeoutMs);

  /** Makes the present or the next {@link #await} return without an event. Any thread. */
  void wakeUp();

  @Override
  void close();
}
