// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.verbs.VerbsException;

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
}
