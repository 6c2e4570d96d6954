// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.rdma.WorkCompletionStatus.REM_ACCESS_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.EOPNOTSUPP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Registering and deregistering memory. */
public abstract class MemoryRegionContract extends RdmaProviderContract {
  private static final int MIB = 1 << 20;

  @TempDir Path directory;

  @Test
  void regionIsWhereTheMemoryIs() throws Exception {
    MemorySegment memory = left.arena.allocate(8192);
    MemoryRegion region = left.register(memory);
    assertThat(region.address()).isEqualTo(memory.address());
    assertThat(region.length()).isEqualTo(8192);
    assertThat(region.toRemote().rkey()).isEqualTo(region.rkey());
  }

  @Test
  void emptyMemoryIsRefused() {
    assertErrno(EINVAL, () -> left.pd.register(MemorySegment.NULL, REMOTE_READ));
  }

  @Test
  void memoryOnTheHeapIsRefused() {
    assertErrno(EINVAL, () -> left.pd.register(MemorySegment.ofArray(new byte[64]), REMOTE_READ));
  }

  @Test
  void readOnlyMemoryIsRefusedForWriting() {
    MemorySegment memory = left.arena.allocate(64).asReadOnly();
    assertErrno(EINVAL, () -> left.pd.register(memory, LOCAL_WRITE));
  }

  @Test
  void memoryOnDemandIsReadOrRefused() throws Exception {
    MemorySegment memory = right.arena.allocate(4096);
    fill(memory, 1);
    MemoryRegion onDemand;
    try {
      onDemand =
          right.pd.register(memory, EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.ON_DEMAND));
    } catch (VerbsException e) {
      assertThat(e.errno()).isIn(EOPNOTSUPP, EINVAL);
      return;
    }
    Pair pair = connectedPair();
    pair.left().postSend(List.of(read(1, target(4096), onDemand, 4096)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
  }

  @Test
  void deregisteringTwiceDoesNothing() throws Exception {
    MemoryRegion region = target(64);
    region.close();
    region.close();
  }

  @Test
  void remoteKeyIsNotTheLocalKeyAndIsNotUsedAgain() throws Exception {
    Set<Integer> keys = new HashSet<>();
    MemorySegment memory = left.arena.allocate(64);
    for (int i = 0; i < 500; i++) {
      MemoryRegion region = left.register(memory);
      assertThat(region.lkey() == region.rkey()).isEqualTo(has(Deviation.LKEY_IS_RKEY));
      assertThat(keys.add(region.rkey())).as("rkey used again").isTrue();
      region.close();
    }
  }

  @Test
  void memoryMayBeRegisteredTwice() throws Exception {
    MemorySegment memory = right.arena.allocate(4096);
    fill(memory, 1);
    MemoryRegion first = right.register(memory);
    MemoryRegion second = right.register(memory);
    first.close();
    Pair pair = connectedPair();
    pair.left().postSend(List.of(read(1, target(4096), second, 4096)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
  }

  @Test
  void readOnlyMappingCanBeRead() throws Exception {
    Path file = directory.resolve("data");
    byte[] bytes = new byte[3 * MIB];
    fill(MemorySegment.ofArray(bytes), 3);
    Files.write(file, bytes);
    MemoryRegion target = target(bytes.length);
    try (Arena arena = Arena.ofShared();
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      MemorySegment mapping = channel.map(MapMode.READ_ONLY, 0, bytes.length, arena);
      try (MemoryRegion source = right.pd.register(mapping, REMOTE_READ)) {
        connectedPair().left().postSend(List.of(read(1, target, source, bytes.length)));
        assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
      }
    }
    assertThat(left.memory(target).mismatch(MemorySegment.ofArray(bytes))).isEqualTo(-1);
  }

  @Test
  void regionsBeyondTwoGibibytesAreReadAtTheirFarEnd() throws Exception {
    long bytes = (5L << 30) + 12_345;
    assumeTrue(
        !has(Deviation.REGIONS_ARE_PINNED)
            || Files.getFileStore(directory).getUsableSpace() > 2 * bytes,
        Deviation.REGIONS_ARE_PINNED::text);
    Path file = directory.resolve("sparse");
    MemoryRegion target = target(4096);
    try (Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.SPARSE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment mapping = channel.map(MapMode.READ_WRITE, 0, bytes, arena);
      fill(mapping.asSlice(bytes - 4096), 9);
      try (MemoryRegion source = right.pd.register(mapping.asReadOnly(), REMOTE_READ)) {
        connectedPair()
            .left()
            .postSend(
                List.of(
                    new SendWorkRequest(
                        1,
                        entry(target, 0, 4096),
                        source.address() + bytes - 4096,
                        source.rkey(),
                        true)));
        assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
      }
      assertThat(left.memory(target).mismatch(mapping.asSlice(bytes - 4096))).isEqualTo(-1);
    }
  }

  @Test
  void readOfADeregisteredRegionIsRefused() throws Exception {
    MemoryRegion source = source(4096);
    source.close();
    connectedPair().left().postSend(List.of(read(1, target(4096), source, 4096)));
    assertThat(statuses(left.await(1))).containsExactly(REM_ACCESS_ERR);
  }

  @Test
  void memoryCanBeFreedAtOnceAfterDeregisteringItUnderAStreamOfReads() throws Exception {
    MemoryRegion target = target(4 * MIB);
    int failed = 0;
    for (int round = 0; round < 10; round++) {
      Arena arena = Arena.ofShared();
      MemorySegment memory = arena.allocate(4 * MIB, 4096);
      fill(memory, round);
      MemoryRegion source = right.register(memory);
      failed +=
          countFailedBehindSuccesses(REM_ACCESS_ERR, readUntilFreed(target, source, source, arena));
    }
    assertThat(failed).isPositive();
  }

  @Test
  void targetCanBeFreedAtOnceAfterDeregisteringItUnderAStreamOfReads() throws Exception {
    MemoryRegion source = source(4 * MIB);
    int failed = 0;
    for (int round = 0; round < 10; round++) {
      Arena arena = Arena.ofShared();
      MemoryRegion target = left.register(arena.allocate(4 * MIB, 4096));
      failed +=
          countFailedBehindSuccesses(
              WorkCompletionStatus.LOC_PROT_ERR, readUntilFreed(target, source, target, arena));
    }
    assertThat(failed).isPositive();
  }

  /** READs the whole region 32 times, and frees one of the regions after the first READ. */
  private List<WorkCompletionStatus> readUntilFreed(
      MemoryRegion target, MemoryRegion source, MemoryRegion freed, Arena memory) throws Exception {
    Pair pair = connectedPair();
    List<SendWorkRequest> reads = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      reads.add(read(i, target, source, 4 * MIB));
    }
    pair.left().postSend(reads);
    List<Completed> completed = new ArrayList<>(left.await(1));
    freed.close();
    memory.close();
    completed.addAll(left.await(31));
    pair.left().close();
    pair.right().close();
    return statuses(completed);
  }

  /** Returns 0 if all READs ended before the region was closed. */
  private static int countFailedBehindSuccesses(
      WorkCompletionStatus expected, List<WorkCompletionStatus> statuses) {
    int failed = statuses.indexOf(expected);
    int succeeded = failed < 0 ? statuses.size() : failed;
    assertThat(succeeded).isPositive();
    assertThat(statuses.subList(0, succeeded)).containsOnly(SUCCESS);
    assertThat(statuses.stream().skip(succeeded + 1)).allMatch(WR_FLUSH_ERR::equals);
    return statuses.size() - succeeded;
  }

  @Test
  void laterWritesToTheMemoryAreSeenByReads() throws Exception {
    MemorySegment memory = right.arena.allocate(8);
    MemoryRegion source = right.register(memory);
    MemoryRegion target = target(8);
    Pair pair = connectedPair();
    for (long value = 1; value < 20; value++) {
      memory.set(ValueLayout.JAVA_LONG, 0, value);
      pair.left().postSend(List.of(read(value, target, source, 8)));
      assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
      assertThat(left.memory(target).get(ValueLayout.JAVA_LONG, 0)).isEqualTo(value);
    }
  }

  @Test
  void regionCanBeClosedWhileManyThreadsRegister() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      for (int i = 0; i < 200; i++) {
                        left.register(4096, TestNode.ALL).close();
                      }
                    } catch (Exception e) {
                      failures.add(e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
  }
}
