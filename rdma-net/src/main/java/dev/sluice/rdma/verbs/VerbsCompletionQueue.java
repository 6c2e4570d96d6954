package dev.sluice.rdma.verbs;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.verbs.ibv.IbvCq;
import dev.sluice.rdma.verbs.ibv.IbvWcArray;
import dev.sluice.rdma.verbs.ibv.IbvWcStatus;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * A completion queue of a verbs device. Its lock keeps the queue from being destroyed under a
 * thread that polls, and lets a queue pair that is destroyed or reset take its completions out:
 * some libraries do so themselves, others leave them. Closed by its creator, or by its device.
 */
final class VerbsCompletionQueue extends VerbsChild implements CompletionQueue {
  private static final int BATCH = 64;

  /** A completion of another queue pair that {@link #drop} came across. */
  private record Kept(long wrId, WorkCompletionStatus status, int qpNumber, int vendorError) {}

  private final IbvCq queue;
  private final VerbsCompletionChannel channel;
  private final int capacity;

  /** The garbage collector frees it: native code writes to it only under the lock. */
  private final IbvWcArray polled = new IbvWcArray(Arena.ofAuto(), BATCH);

  private final Queue<Kept> kept = new ArrayDeque<>();

  /** Why it is unusable; null while it is not. */
  private String failure;

  VerbsCompletionQueue(VerbsDevice device, IbvCq queue, VerbsCompletionChannel channel) {
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

  /** Undefined for a success. */
  private int vendorError(int index) {
    return polled.status(index) == IbvWcStatus.SUCCESS ? 0 : polled.vendorError(index);
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

  /** Drops the completions of a queue pair that was destroyed or reset. */
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

  /** Completions were lost: neither the queue nor its queue pairs can be used any more. */
  void overrun() {
    fail("more completions came than the queue holds");
    List<VerbsQueuePair> users =
        owner().open(VerbsQueuePair.class).filter(queuePair -> queuePair.uses(this)).toList();
    users.forEach(VerbsQueuePair::completionsLost);
  }

  /** Whoever polls learns the reason from now on. */
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
