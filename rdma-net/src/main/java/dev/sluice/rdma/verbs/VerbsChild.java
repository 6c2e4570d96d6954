package dev.sluice.rdma.verbs;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.leak.LeakTracker;

/** What was created on a {@link VerbsDevice}, which closes it if nobody else does. Any thread. */
abstract class VerbsChild implements AutoCloseable {
  private final VerbsDevice device;
  private final LeakTracker.Handle leak;

  /**
   * @param kind what it is, for reports of what is left open
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

  /** To be called once it is closed. */
  final void closed() {
    device.forget(this);
    leak.closed();
  }
}
