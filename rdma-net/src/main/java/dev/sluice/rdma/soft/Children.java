package dev.sluice.rdma.soft;

import dev.sluice.rdma.VerbsException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Predicate;

/** What is open on a device, in the order of creation. Any thread. */
final class Children {
  /** Makes a child. */
  interface Factory<T extends AutoCloseable> {
    T make() throws VerbsException;
  }

  private final SequencedSet<AutoCloseable> open = new LinkedHashSet<>();
  private boolean closed;

  synchronized <T extends AutoCloseable> T adopt(Factory<T> factory) throws VerbsException {
    if (closed) {
      throw new VerbsException("creation", VerbsException.EINVAL, "the device is closed");
    }
    T child = factory.make();
    open.add(child);
    return child;
  }

  synchronized void forget(AutoCloseable child) {
    open.remove(child);
  }

  /** Refuses new children from now on; true the first time. */
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Those that match, the youngest first. */
  synchronized List<AutoCloseable> youngestFirst(Predicate<AutoCloseable> which) {
    return open.reversed().stream().filter(which).toList();
  }
}
