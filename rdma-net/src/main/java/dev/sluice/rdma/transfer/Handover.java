package dev.sluice.rdma.transfer;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands over what was decided with a lock held once it is not held any more: in order, and in a
 * loop, since a taker that has more decided must not end in a recursion. Any thread; nothing to
 * close.
 *
 * @param <T> what is handed over
 */
public final class Handover<T> {
  private static final Logger LOG = LoggerFactory.getLogger(Handover.class);

  private final Consumer<T> taker;
  private final Queue<T> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean running = new AtomicBoolean();

  public Handover(Consumer<T> taker) {
    this.taker = taker;
  }

  /** To be handed over by the next {@link #run}. Calls nobody. */
  public void add(T decided) {
    queue.add(decided);
  }

  /** Hands over all there is, unless a thread does so already: then that one does. */
  public void run() {
    while (!queue.isEmpty() && running.compareAndSet(false, true)) {
      try {
        for (T next = queue.poll(); next != null; next = queue.poll()) {
          give(next);
        }
      } finally {
        running.set(false);
      }
    }
  }

  /** Hands it over at once, with no lock held. */
  public void give(T decided) {
    try {
      taker.accept(decided);
    } catch (RuntimeException | Error e) {
      LOG.error("{} could not be handed over", decided, e);
    }
  }
}
