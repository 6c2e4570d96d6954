package dev.sluice.rdma.verbs;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.EventFd;
import dev.sluice.rdma.verbs.ffi.FileDescriptors;
import dev.sluice.rdma.verbs.ibv.IbvCompChannel;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completion channel of a verbs device: waits in poll(2) for the channel's descriptor and for one
 * that wakes it up. Any thread, of which one waits at a time; closed by its creator, or by its
 * device.
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

  /** Takes over the channel. */
  static VerbsCompletionChannel open(VerbsDevice device, IbvCompChannel channel)
      throws VerbsException {
    try {
      channel.setNonBlocking();
      return new VerbsCompletionChannel(device, channel, new EventFd());
    } catch (VerbsException e) {
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
      owner().fail("its completions cannot be waited for: " + e.getMessage());
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

  /** That of a device that was taken out is readable for ever, and poll(2) ignores one below 0. */
  private int fdOfEvents() {
    return owner().hasFailed() ? -1 : channel.fd();
  }

  /**
   * Takes and acknowledges all events that are there. Whether there is another one poll(2) says:
   * one that is not there is an error of ibv_get_cq_event(3), and so an exception.
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
      LOG.warn("Waking up who waits for completions of {} failed", owner(), e);
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
      LOG.warn("Closing {} failed", this, e);
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
