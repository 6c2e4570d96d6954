// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NeedsCHeader;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After JIT compilation, READs allocate nothing, according to the JVM's own counter. */
@NeedsCHeader("infiniband/verbs.h")
class AllocationTest {
  private static final int READS = 100_000;
  private static final int MAX_ROUNDS = 100;
  private static final int BATCH = 4;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void postingAndPollingReadsAllocatesNothing(@TempDir Path directory) throws Exception {
    try (FakeDevice device = new FakeDevice();
        Arena arena = Arena.ofShared()) {
      new CInlineVerbs(directory, "inline_verbs.c")
          .call("c_set_operations", device.contextPointer());
      IbvContext context = device.context();
      IbvPd pd = new IbvPd(context, device.object(16));
      IbvQp qp = new IbvQp(pd, pd.context(), device.object(160), null, 0, pointer -> {});
      IbvCq cq = new IbvCq(context, device.object(128), null);
      IbvSendWrList list = new IbvSendWrList(arena, BATCH, 1);
      IbvWcArray completions = new IbvWcArray(arena, BATCH);
      long allocated = -1;
      for (int round = 0; round < MAX_ROUNDS && allocated != 0; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        read(qp, cq, list, completions);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      assertThat(allocated).as("bytes allocated by %s READs", READS).isZero();
    }
  }

  private static void read(IbvQp qp, IbvCq cq, IbvSendWrList list, IbvWcArray completions)
      throws VerbsException {
    for (int posted = 0; posted < READS; posted += BATCH) {
      list.clear();
      for (int i = 0; i < BATCH; i++) {
        list.add(posted + i, IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Flags.SIGNALED)
            .sge(0x1000, 64, 1)
            .rdma(0x2000, 2);
      }
      qp.postSend(list);
      int count = cq.poll(completions);
      for (int i = 0; i < count; i++) {
        if (completions.status(i) != IbvWcArray.Status.SUCCESS || completions.wrId(i) != 0) {
          throw new AssertionError(completions.status(i));
        }
      }
    }
  }
}
