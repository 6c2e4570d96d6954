// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.Provider;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Contract of every provider. It opens two devices: {@code left}, which mostly initiates, and
 * {@code right}, which mostly responds. Subclasses are the parts of the contract. A provider's test
 * runs all parts and only defines how to create the provider.
 */
public abstract class RdmaProviderContract {
  static final Set<AccessFlag> REMOTE_READ = EnumSet.of(AccessFlag.REMOTE_READ);
  static final Set<AccessFlag> LOCAL_WRITE = EnumSet.of(AccessFlag.LOCAL_WRITE);

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  TestNode left;
  TestNode right;

  protected abstract Subject subject();

  final Provider provider() {
    return subject().provider(leaks.tracker());
  }

  final boolean has(Deviation deviation) {
    return subject().deviations().contains(deviation);
  }

  /** Returns the expectation for this provider: that of the contract, or that of its deviation. */
  final <T> T expected(T byContract, Deviation deviation, T otherwise) {
    return has(deviation) ? otherwise : byContract;
  }

  final void assumeConnectingByAddresses() {
    assumeTrue(subject().connectsByAddresses(), "both sides take part in connecting");
  }

  @BeforeEach
  void openDevices() throws IOException {
    left = new TestNode(openDevice());
    right = new TestNode(openDevice());
  }

  @AfterEach
  void closeDevices() {
    left.close();
    right.close();
  }

  final Device openDevice() throws IOException {
    return provider().open(subject().localAddress());
  }

  /** Two connected queue pairs, one of each side. */
  record Pair(QueuePair left, QueuePair right) {}

  final Pair connectedPair() throws VerbsException {
    return connectedPair(ConnectionAttributes.DEFAULT);
  }

  final Pair connectedPair(ConnectionAttributes attributes) throws VerbsException {
    Pair pair = new Pair(left.createQueuePair(), right.createQueuePair());
    TestNode.connect(pair.left, pair.right, attributes);
    return pair;
  }

  /** Returns a region of the responder, filled with a pattern. */
  final MemoryRegion source(int bytes) throws VerbsException {
    MemorySegment memory = right.arena.allocate(bytes, 4096);
    fill(memory, 42);
    return right.register(memory);
  }

  /** Returns a region of the initiator. */
  final MemoryRegion target(int bytes) throws VerbsException {
    return left.register(bytes, TestNode.ALL);
  }

  static void fill(MemorySegment memory, long seed) {
    byte[] bytes = new byte[(int) memory.byteSize()];
    new Random(seed).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  static ScatterGatherEntry entry(MemoryRegion region, long offset, int length) {
    return new ScatterGatherEntry(region.address() + offset, length, region.lkey());
  }

  static SendWorkRequest read(long wrId, MemoryRegion target, MemoryRegion source, int length) {
    return new SendWorkRequest(
        wrId, entry(target, 0, length), source.address(), source.rkey(), true);
  }

  static void assertErrno(int errno, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).as(e.getMessage()).isEqualTo(errno));
  }

  static List<WorkCompletionStatus> statuses(List<Completed> completions) {
    return completions.stream().map(Completed::status).toList();
  }

  static List<Long> wrIds(List<Completed> completions) {
    return completions.stream().map(Completed::wrId).toList();
  }

  /** Checks that a READ through the pair works, and that its only completion is a success. */
  final void assertWorks(Pair pair) throws VerbsException {
    MemoryRegion from = source(64);
    MemoryRegion to = target(64);
    pair.left.postSend(List.of(read(4711, to, from, 64)));
    assertThat(left.await(1))
        .extracting(Completed::wrId, Completed::status)
        .containsExactly(tuple(4711L, WorkCompletionStatus.SUCCESS));
    from.close();
    to.close();
  }
}
