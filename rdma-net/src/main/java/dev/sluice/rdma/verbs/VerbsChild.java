// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An object created on a {@link VerbsDevice}, which registers it ({@link VerbsDevice#adopt}). Its
 * user closes it, else its protection domain or the device does. Any thread. Two threads may call
 * {@link #close} at the same time: a subclass closes once.
 */
abstract class VerbsChild implements AutoCloseable {
  private final VerbsDevice device;
  private final LeakTracker.Handle leak;

  /**
   * @param kind names the object in leak reports
   */
  VerbsChild(VerbsDevice device, String kind) {
    this.device = device;
    leak = device.leaks().opened(kind, this);
  }

  final VerbsDevice owner() {
    return device;
  }

  @Override
  public abstract void close() throws VerbsException;

  /** Subclasses call this once, after closing and without their lock. */
  final void closed() {
    device.forget(this);
    leak.closed();
  }

  /**
   * The open objects of a device, in the order of creation. The {@link VerbsDevice} has one. Any
   * thread. Children are closed without the lock, since each then calls {@link #forget}.
   */
  static final class Children {
    private static final Logger LOG = LoggerFactory.getLogger(Children.class);

    private final Set<VerbsChild> open = new LinkedHashSet<>();
    private boolean closed;

    /**
     * Adds a new child.
     *
     * @throws VerbsException EINVAL if the device was closed meanwhile; the child is closed then
     */
    <T extends VerbsChild> T adopt(T child) throws VerbsException {
      synchronized (this) {
        if (!closed) {
          open.add(child);
          return child;
        }
      }
      close(child);
      throw new VerbsException(
          "creation of " + child, VerbsException.EINVAL, "the device is closed");
    }

    synchronized void forget(VerbsChild child) {
      open.remove(child);
    }

    /** Refuses new children from now on. Returns true on the first call. */
    synchronized boolean close() {
      boolean first = !closed;
      closed = true;
      return first;
    }

    /** Closes the matching children, the youngest first. */
    void close(Predicate<VerbsChild> which) {
      select(which).reversed().forEach(Children::close);
    }

    synchronized List<VerbsChild> select(Predicate<VerbsChild> which) {
      return new ArrayList<>(open.stream().filter(which).toList());
    }

    private static void close(VerbsChild child) {
      try {
        child.close();
      } catch (VerbsException | RuntimeException e) {
        LOG.warn("Closing {} failed", child, e);
      }
    }
  }
}
