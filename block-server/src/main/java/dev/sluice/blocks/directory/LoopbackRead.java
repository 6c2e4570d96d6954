// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * READs memory of this process as a peer would, to test the device. {@link RegistrationProbe} calls
 * it on the probing thread: at the start, for the doctor, or when a map output is opened, with the
 * directory's lock held. Opens all that it needs for one READ and closes it.
 */
final class LoopbackRead {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);
  private static final long POLL_INTERVAL_NS = TimeUnit.MICROSECONDS.toNanos(100);

  private LoopbackRead() {}

  /**
   * Returns the bytes that a READ brings.
   *
   * @throws RegistrationUnavailableException if the READ fails or does not complete within 5 s
   * @throws IOException if it could not be tried
   */
  static byte[] read(ProtectionDomain domain, RemoteRegion remote) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(PageSize.roundUp(remote.length()), PageSize.BYTES);
      try (MemoryRegion target = domain.register(memory, EnumSet.of(AccessFlag.LOCAL_WRITE));
          CompletionQueue completions = domain.device().createCompletionQueue(2, null);
          QueuePair responder = domain.createQueuePair(completions, 1);
          QueuePair initiator = domain.createQueuePair(completions, 1)) {
        connect(responder, initiator, domain);
        ScatterGatherEntry local =
            new ScatterGatherEntry(
                target.address(), Math.toIntExact(remote.length()), target.lkey());
        initiator.postSend(
            List.of(new SendWorkRequest(0, local, remote.address(), remote.rkey(), true)));
        awaitSuccess(completions, remote);
      }
      return memory.asSlice(0, remote.length()).toArray(ValueLayout.JAVA_BYTE);
    }
  }

  private static void connect(QueuePair responder, QueuePair initiator, ProtectionDomain domain)
      throws IOException {
    ConnectionAttributes attributes =
        ConnectionAttributes.DEFAULT.within(domain.device().attributes());
    responder.toInit(EnumSet.of(AccessFlag.REMOTE_READ));
    initiator.toInit(EnumSet.noneOf(AccessFlag.class));
    responder.toRtr(initiator.address(), attributes);
    initiator.toRtr(responder.address(), attributes);
    initiator.toRts();
  }

  private static void awaitSuccess(CompletionQueue completions, RemoteRegion remote)
      throws IOException {
    WorkCompletions batch = new WorkCompletions(1);
    long start = System.nanoTime();
    while (completions.poll(batch) == 0) {
      if (System.nanoTime() - start > TIMEOUT_NS) {
        throw new RegistrationUnavailableException(
            "a READ of %d bytes did not complete within %d s"
                .formatted(remote.length(), TimeUnit.NANOSECONDS.toSeconds(TIMEOUT_NS)));
      }
      LockSupport.parkNanos(POLL_INTERVAL_NS);
    }
    if (batch.status(0) != WorkCompletionStatus.SUCCESS) {
      throw new RegistrationUnavailableException(
          "a READ of " + remote.length() + " bytes completed with " + batch.status(0));
    }
  }
}
