// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A completion queue that reports completed READs to the audit, and falsifies bytes when ordered.
 * {@link ChaosDevice} creates it; the engine's thread polls it, and gets the completions only after
 * the audit has them. Closing is that of the wrapped queue.
 *
 * @param queue the provider's completion queue, which its queue pairs need
 */
record ChaosCompletionQueue(CompletionQueue queue, ChaosAgent agent, ReadAudit audit)
    implements CompletionQueue {
  @Override
  public int capacity() {
    return queue.capacity();
  }

  @Override
  public int poll(WorkCompletions into) throws VerbsException {
    int count = queue.poll(into);
    if (count > 0) {
      agent.stopAt(Injection.STOP_AFTER_READING);
    }
    for (int i = 0; i < count; i++) {
      for (SendWorkRequest done : audit.completed(into.qpNumber(i), into.wrId(i))) {
        if (into.status(i) == WorkCompletionStatus.SUCCESS && agent.strikes(Injection.CORRUPT)) {
          corrupt(done.local());
        }
      }
    }
    return count;
  }

  @SuppressWarnings("restricted") // The memory is a posted buffer, not yet freed.
  private void corrupt(ScatterGatherEntry target) {
    MemorySegment memory =
        MemorySegment.ofAddress(target.address())
            .reinterpret(Integer.toUnsignedLong(target.length()));
    int at = agent.choose(target.length());
    memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 0x40));
  }

  @Override
  public void requestNotify() throws VerbsException {
    queue.requestNotify();
  }

  @Override
  public void close() throws VerbsException {
    queue.close();
  }
}
