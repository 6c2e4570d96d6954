package dev.sluice.rdma.soft;

import dev.sluice.rdma.VerbsException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Predicate;

/**
 * What is open on a device, in the order of creation, and how much of each kind may be. Any thread.
 */
final class Children {
  /** Makes a child. */
  interface Factory<T extends AutoCloseable> {
    T make() throws VerbsException;
  }

  private final SequencedMap<AutoCloseable, Class<?>> open = new LinkedHashMap<>();
  private final Map<Class<?>, Integer> counts = new HashMap<>();
  private boolean closed;

  synchronized <T extends AutoCloseable> T adopt(
      Class<? super T> kind, int limit, Factory<T> factory) throws VerbsException {
    String operation = "create " + kind.getSimpleName();
    if (closed) {
      throw new VerbsException(operation, VerbsException.EINVAL, "the device is closed");
    }
    if (counts.getOrDefault(kind, 0) >= limit) {
      throw new VerbsException(
          operation, VerbsException.ENOMEM, "the device's limit of " + limit + " is reached");
    }
    T child = factory.make();
    open.put(child, kind);
    counts.merge(kind, 1, Integer::sum);
    return child;
  }

  synchronized void forget(AutoCloseable child) {
    Class<?> kind = open.remove(child);
    if (kind != null) {
      counts.merge(kind, -1, Integer::sum);
    }
  }

  /** Refuses new children from now on; true the first time. */
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Those that match, the youngest first. */
  synchronized List<AutoCloseable> youngestFirst(Predicate<AutoCloseable> which) {
    return open.sequencedKeySet().reversed().stream().filter(which).toList();
  }
}
