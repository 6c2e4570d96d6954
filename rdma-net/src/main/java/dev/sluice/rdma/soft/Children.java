// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.verbs.VerbsException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Predicate;

/**
 * The open objects of a device, in the order of creation. The {@link SoftDevice} has one. Any
 * thread. Children are made with the lock held, and closed without it, since each then calls {@link
 * #forget}.
 */
final class Children {
  /** Creates a child. */
  interface Factory<T extends AutoCloseable> {
    T make() throws VerbsException;
  }

  private final SequencedSet<AutoCloseable> open = new LinkedHashSet<>();
  private boolean closed;

  synchronized <T extends AutoCloseable> T adopt(Factory<T> factory) throws VerbsException {
    if (closed) {
      throw new VerbsException(
          "creating a resource", VerbsException.EINVAL, "the device is closed");
    }
    T child = factory.make();
    open.add(child);
    return child;
  }

  synchronized void forget(AutoCloseable child) {
    open.remove(child);
  }

  /** Refuses new children from now on. Returns true on the first call. */
  synchronized boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }

  /** Matching children, the youngest first. */
  synchronized List<AutoCloseable> youngestFirst(Predicate<AutoCloseable> which) {
    return open.reversed().stream().filter(which).toList();
  }
}
