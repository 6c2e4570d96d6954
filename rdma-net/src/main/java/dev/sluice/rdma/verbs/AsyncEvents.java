// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.TaskFailures;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.EventFd;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ffi.NativeObject;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvContext;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a device's asynchronous events on a thread of its own. It reports events of the device's
 * port. It makes an overrun completion queue unusable, as hardware would, and all completion queues
 * of a device that failed. Each event is acknowledged before it is acted upon: until then the
 * object that it is about cannot be destroyed. The {@link VerbsDevice} starts it, and stops it
 * before it closes its objects.
 */
final class AsyncEvents {
  private static final Logger LOG = LoggerFactory.getLogger(AsyncEvents.class);

  /** Limit of one wait; nothing depends on it. */
  private static final long POLL_TIMEOUT_MS = 60_000;

  /** Interval at which an unusable port is read again. */
  private static final long RETRY_MS = 1_000;

  private static final long STOP_TIMEOUT_MS = 10_000;

  private final VerbsDevice device;
  private final IbvContext context;
  private final EventFd stop;
  private final Thread thread;
  private volatile boolean stopping;

  AsyncEvents(VerbsDevice device, IbvContext context, ThreadFactory threads) throws VerbsException {
    this.device = device;
    this.context = context;
    thread = threads.newThread(this::run);
    stop = new EventFd(); // last, as only start and stop close it
  }

  /** Starts the thread. If the system gives none, closes the descriptor that would wake it up. */
  void start() throws VerbsException {
    try {
      thread.start();
    } catch (RuntimeException | Error e) {
      stop.close();
      throw e;
    }
  }

  /**
   * Ends the thread, which waits for nothing but events.
   *
   * @return true if it ended in time; otherwise it may still use the context
   */
  boolean stop() {
    stopping = true;
    try {
      stop.signal();
      thread.join(STOP_TIMEOUT_MS);
      if (!thread.isAlive()) {
        stop.close();
      }
    } catch (VerbsException e) {
      LOG.warn("Stopping the event thread of {} failed", device, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }

  private void run() {
    try {
      while (!stopping) {
        CurrentPort port = device.port();
        long ready =
            FileDescriptors.awaitReadable(
                port.isUsable() ? POLL_TIMEOUT_MS : RETRY_MS, context.asyncFd(), stop.fd());
        if (ready == 0 && !port.isUsable()) {
          device.portChanged("port queried again"); // in case the event was lost
        }
        Optional<IbvAsyncEvent> event = context.awaitAsyncEvent(0);
        if (event.isPresent()) {
          try {
            handle(event.get());
          } catch (RuntimeException | Error e) {
            TaskFailures.log(LOG, "{}: handling an asynchronous event failed", device, e);
          }
        }
      }
    } catch (VerbsException | RuntimeException | Error e) {
      device.fail("reading its asynchronous events failed: " + e.getMessage());
    }
  }

  private void handle(IbvAsyncEvent event) throws VerbsException {
    Runnable consequence;
    try (event) {
      consequence = consequence(event);
    }
    consequence.run();
  }

  private Runnable consequence(IbvAsyncEvent event) throws VerbsException {
    String text = event.text();
    return switch (event.type().known().orElse(null)) {
      case CQ_ERR -> overrun(event);
      case QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR -> queuePairFailed(event, text);
      case DEVICE_FATAL -> () -> device.fail(text);
      case PORT_ERR -> ofPort(event.port(), text, () -> portFailed(text));
      case PORT_ACTIVE, LID_CHANGE, PKEY_CHANGE, GID_CHANGE, SM_CHANGE, CLIENT_REREGISTER ->
          ofPort(event.port(), text, () -> device.portChanged(text));
      case null -> () -> LOG.info("{}: ignoring an event of unknown type {}", device, event.type());
      default -> () -> LOG.debug("{}: {}", device, text);
    };
  }

  private Runnable ofPort(int port, String text, Runnable consequence) {
    return port == device.port().last().port().number()
        ? consequence
        : () -> LOG.debug("{}: {} of port {}, which is not used", device, text, port);
  }

  private void portFailed(String text) {
    device.port().down(text);
    LOG.warn(
        "{}: {}: requests of this process and of its peers fail until the port is active again",
        device,
        text);
  }

  private Runnable queuePairFailed(IbvAsyncEvent event, String text) {
    for (VerbsQueuePair queuePair : device.open(VerbsQueuePair.class).toList()) {
      if (isAbout(event, queuePair.ibv())) {
        return () -> queuePair.broken(text);
      }
    }
    return () -> LOG.debug("{}: {} of a queue pair that is closed", device, text);
  }

  private Runnable overrun(IbvAsyncEvent event) {
    for (VerbsCompletionQueue queue : device.open(VerbsCompletionQueue.class).toList()) {
      if (isAbout(event, queue.ibv())) {
        return queue::overrun;
      }
    }
    return () -> LOG.debug("{}: an overrun completion queue is closed already", device);
  }

  private static boolean isAbout(IbvAsyncEvent event, NativeObject object) {
    try {
      return event.isAbout(object);
    } catch (VerbsException e) {
      return false; // closed meanwhile; an event about it would have kept it open
    }
  }
}
