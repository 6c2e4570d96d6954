// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.EventFd;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ibv.IbvCompChannel;
import dev.sluice.verbs.ibv.IbvCq;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completion channel of a {@link VerbsDevice}, which creates it. It waits in poll(2) for the
 * channel's descriptor and for a second one that wakes it up. Any thread, but one waits at a time.
 * Closed by its user or its device, after its completion queues: C refuses to destroy a channel in
 * use.
 */
final class VerbsCompletionChannel extends VerbsChild implements CompletionChannel {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsCompletionChannel.class);
  private static final long WAKE_UP = 1;
  private static final long EVENT = 2;

  /** Held while waiting, so that descriptors are not closed under a thread that polls them. */
  private final ReentrantLock waiting = new ReentrantLock();

  private final IbvCompChannel channel;
  private final EventFd wakeUp;
  private volatile boolean closed;

  private VerbsCompletionChannel(VerbsDevice device, IbvCompChannel channel, EventFd wakeUp) {
    super(device, "completion channel");
    this.channel = channel;
    this.wakeUp = wakeUp;
  }

  /** Takes ownership of the channel. */
  static VerbsCompletionChannel open(VerbsDevice device, IbvCompChannel channel)
      throws VerbsException {
    try {
      channel.setNonBlocking();
      return new VerbsCompletionChannel(device, channel, new EventFd());
    } catch (VerbsException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  IbvCompChannel ibv() {
    return channel;
  }

  @Override
  public boolean await(long timeoutMs) {
    waiting.lock();
    try {
      return !closed && waitForEvent(timeoutMs) && !closed;
    } catch (VerbsException e) {
      owner().fail("waiting for its completions failed: " + e.getMessage());
      return false;
    } finally {
      waiting.unlock();
    }
  }

  private boolean waitForEvent(long timeoutMs) throws VerbsException {
    long ready = FileDescriptors.awaitReadable(timeoutMs, wakeUp.fd(), fdOfEvents());
    if ((ready & EVENT) != 0 && takeEvents()) {
      return true;
    }
    if ((ready & WAKE_UP) != 0) {
      wakeUp.clear();
    }
    return false;
  }

  /**
   * Descriptor to poll. The channel of a device that was taken out is always readable, so this is
   * -1 then, which poll(2) ignores.
   */
  private int fdOfEvents() {
    return owner().hasFailed() ? -1 : channel.fd();
  }

  /**
   * Takes and acknowledges all pending events. Asks poll(2) whether there is another one: without
   * one, ibv_get_cq_event(3) fails, which is an exception here.
   */
  private boolean takeEvents() throws VerbsException {
    boolean any = false;
    do {
      Optional<IbvCq> queue = channel.getEvent();
      if (queue.isEmpty()) {
        return any;
      }
      any = true;
      queue.get().acknowledgeEvents();
    } while (FileDescriptors.awaitReadable(0, channel.fd()) != 0);
    return any;
  }

  @Override
  public void wakeUp() {
    try {
      wakeUp.signal();
    } catch (VerbsException e) {
      LOG.warn("Waking up the thread that waits for completions of {} failed", owner(), e);
    }
  }

  @Override
  public void close() {
    closed = true;
    wakeUp();
    waiting.lock();
    try {
      if (channel.isClosed()) {
        return;
      }
      channel.close();
      wakeUp.close();
    } catch (VerbsException e) {
      LOG.warn("Closing {} failed; its device will try again", this, e);
      return;
    } finally {
      waiting.unlock();
    }
    closed();
  }

  @Override
  public String toString() {
    return "completion channel of " + owner();
  }
}
