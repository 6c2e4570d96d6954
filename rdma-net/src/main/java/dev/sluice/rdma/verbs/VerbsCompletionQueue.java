// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvWcArray;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue of a {@link VerbsDevice}, which creates it. Its lock keeps the queue from
 * being destroyed under a polling thread. Under the lock it also drops the completions of a queue
 * pair that is destroyed or reset: some libraries do that themselves, others do not. The lock
 * guards all fields that change; it is taken inside the lock of a queue pair, never the other way
 * round. Closed by its user or its device.
 */
final class VerbsCompletionQueue extends VerbsChild implements CompletionQueue {
  /** Largest number of completions that one call of ibv_poll_cq(3) takes. */
  private static final int BATCH = 64;

  /** A completion of another queue pair, which {@link #drop} polled and keeps. */
  private record Kept(long wrId, WorkCompletionStatus status, int qpNumber, int vendorError) {}

  private final IbvCq queue;
  private final @Nullable VerbsCompletionChannel channel;
  private final int capacity;

  /** The garbage collector may free it, as native code writes to it only under the lock. */
  private final IbvWcArray polled = new IbvWcArray(Arena.ofAuto(), BATCH);

  private final Queue<Kept> kept = new ArrayDeque<>();

  /** Queue pairs that use this completion queue, by number. */
  private final Map<Integer, IbvQp> queuePairs = new HashMap<>();

  /** Reason why the queue is unusable; null while it is usable. */
  private @Nullable String failure;

  VerbsCompletionQueue(VerbsDevice device, IbvCq queue, @Nullable VerbsCompletionChannel channel) {
    super(device, "completion queue");
    this.queue = queue;
    this.channel = channel;
    capacity = queue.entries();
  }

  IbvCq ibv() {
    return queue;
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public synchronized int poll(WorkCompletions into) throws VerbsException {
    into.clear();
    if (failure != null || queue.isClosed()) {
      throw new VerbsException(
          "ibv_poll_cq(" + this + ")",
          VerbsException.EIO,
          failure != null ? failure : "the queue is closed");
    }
    while (!kept.isEmpty() && into.size() < into.capacity()) {
      Kept completion = kept.remove();
      into.add(completion.wrId, completion.status, completion.qpNumber, completion.vendorError);
    }
    int count = queue.poll(polled, into.capacity() - into.size());
    for (int i = 0; i < count; i++) {
      into.add(polled.wrId(i), status(i), polled.qpNum(i), vendorError(i));
    }
    return into.size();
  }

  private WorkCompletionStatus status(int index) {
    return WorkCompletionStatus.of(polled.status(index).value());
  }

  /** Returns 0 for a success, where the field is undefined. */
  private int vendorError(int index) {
    return polled.status(index) == IbvWcArray.Status.SUCCESS ? 0 : polled.vendorError(index);
  }

  @Override
  public synchronized void requestNotify() throws VerbsException {
    if (channel == null || queue.isClosed()) {
      throw new VerbsException(
          "ibv_req_notify_cq(" + this + ")",
          VerbsException.EINVAL,
          channel == null ? "the queue has no completion channel" : "the queue is closed");
    }
    queue.requestNotify(false);
  }

  /**
   * Begins to take completions of a new queue pair. Its number may be that of a queue pair just
   * destroyed. The completions of that one are dropped before the new one posts anything.
   */
  synchronized void add(int qpNumber, IbvQp queuePair) throws VerbsException {
    if (queuePairs.put(qpNumber, queuePair) != null) {
      drop(qpNumber);
    }
  }

  /** Drops the completions of a destroyed queue pair, unless a new one already has its number. */
  synchronized void remove(int qpNumber, IbvQp queuePair) throws VerbsException {
    if (queuePairs.remove(qpNumber, queuePair)) {
      drop(qpNumber);
    }
  }

  /** Drops the completions of a queue pair that was reset. */
  synchronized void drop(int qpNumber) throws VerbsException {
    if (failure != null || queue.isClosed()) {
      return;
    }
    kept.removeIf(completion -> completion.qpNumber == qpNumber);
    int count = queue.poll(polled);
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        if (polled.qpNum(i) != qpNumber) {
          kept.add(new Kept(polled.wrId(i), status(i), polled.qpNum(i), vendorError(i)));
        }
      }
      count = queue.poll(polled);
    }
  }

  /** Marks this queue and its queue pairs as unusable, as completions were lost. */
  void overrun() {
    fail("completions were lost: the queue was full");
    List<VerbsQueuePair> users =
        owner().open(VerbsQueuePair.class).filter(queuePair -> queuePair.uses(this)).toList();
    users.forEach(VerbsQueuePair::completionsLost);
  }

  /** Makes polling fail with this reason from now on. */
  synchronized void fail(String reason) {
    failure = reason;
  }

  @Override
  public void close() throws VerbsException {
    synchronized (this) {
      if (queue.isClosed()) {
        return;
      }
      queue.close();
    }
    closed();
  }

  @Override
  public String toString() {
    return "CQ of " + capacity + " entries of " + owner();
  }
}
