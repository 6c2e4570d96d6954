// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A device that does nothing by itself. A test inspects the posted work requests and decides how
 * they complete. Checks that the engine keeps the seam's contract: no overrun of the completion
 * queue or of a send queue, nothing posted before RTS, no remote flags on local buffers. One
 * thread.
 */
final class ScriptedDevice implements Device, ProtectionDomain, CompletionQueue {
  record Completion(long wrId, WorkCompletionStatus status, int qpNumber) {}

  final List<ScriptedQueuePair> queuePairs = new ArrayList<>();
  final List<Set<AccessFlag>> registrations = new ArrayList<>();
  final Queue<Completion> completions = new ArrayDeque<>();
  int capacity = 64;
  int maxQueuePairs = 64;
  int maxRegions = Integer.MAX_VALUE;
  int openRegions;
  boolean flushes = true;

  /** Thrown by every post; null for none. */
  Error postError;

  VerbsException pollFailure;

  /** Thrown when a queue pair is created; null for none. */
  Error error;

  /** Runs once, while the next queue pair is created. */
  Runnable whileCreating = () -> {};

  /** Result of each rendezvous with a peer's queue pair; null if the addresses suffice. */
  CompletableFuture<Void> meetings;

  /** Returns the queue pair that was created last. */
  ScriptedQueuePair last() {
    return queuePairs.getLast();
  }

  @Override
  public QueuePair createQueuePair(CompletionQueue completionQueue, int depth)
      throws VerbsException {
    Runnable meanwhile = whileCreating;
    whileCreating = () -> {};
    meanwhile.run();
    if (error != null) {
      throw error;
    }
    if (queuePairs.stream().filter(qp -> !qp.isClosed()).count() >= maxQueuePairs) {
      throw new VerbsException("createQueuePair", VerbsException.ENOMEM, "limit");
    }
    ScriptedQueuePair queuePair = new ScriptedQueuePair(this, queuePairs.size() + 1, depth);
    queuePairs.add(queuePair);
    return queuePair;
  }

  @Override
  public int poll(WorkCompletions into) throws VerbsException {
    if (pollFailure != null) {
      throw pollFailure;
    }
    into.clear();
    while (into.size() < into.capacity() && !completions.isEmpty()) {
      Completion completion = completions.remove();
      into.add(completion.wrId(), completion.status(), completion.qpNumber(), 0);
    }
    return into.size();
  }

  int outstanding() {
    return queuePairs.stream().mapToInt(qp -> qp.outstanding.size()).sum();
  }

  @Override
  public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) throws VerbsException {
    if (registrations.size() >= maxRegions) {
      throw new VerbsException("register", VerbsException.ENOMEM, "limit");
    }
    registrations.add(EnumSet.copyOf(access));
    openRegions++;
    int key = registrations.size();
    return new MemoryRegion() {
      private boolean closed;

      @Override
      public long address() {
        return memory.address();
      }

      @Override
      public long length() {
        return memory.byteSize();
      }

      @Override
      public int lkey() {
        return key;
      }

      @Override
      public int rkey() {
        return -key;
      }

      @Override
      public void close() {
        if (!closed) {
          closed = true;
          openRegions--;
        }
      }
    };
  }

  @Override
  public String providerName() {
    return "scripted";
  }

  @Override
  public String name() {
    return "scripted0";
  }

  @Override
  public DeviceAttributes attributes() {
    return DeviceAttributes.NONE.with(
        nic -> {
          nic.maxQueuePairs = 1024;
          nic.maxQueuePairWr = 1024;
          nic.maxCompletionQueueEntries = 1 << 16;
          nic.maxQueuePairRdAtomic = 16;
          nic.maxQueuePairInitRdAtomic = 16;
          nic.maxMessageSize = 1 << 30;
        });
  }

  @Override
  public Gid gid() {
    return new Gid(0, 1);
  }

  @Override
  public Device device() {
    return this;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return this;
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionQueue createCompletionQueue(int entries, CompletionChannel channel) {
    return this;
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public void requestNotify() {}

  @Override
  public void close() {}

  QueuePairAddress address(int qpNumber) {
    return new QueuePairAddress(qpNumber, 0, 0, gid(), 1024, 16, new byte[0]);
  }
}
