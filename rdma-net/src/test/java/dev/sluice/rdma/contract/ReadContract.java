// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.ENOMEM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.verbs.PostException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RDMA READ. */
public abstract class ReadContract extends RdmaProviderContract {
  private static final int MIB = 1 << 20;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16, 4095, 4097, 262_144, 262_145, 1_048_576, 20_000_003})
  void bringsExactlyTheBytesThatWereAskedFor(int bytes) throws Exception {
    int margin = 13;
    MemoryRegion source = source(bytes + 2 * margin);
    MemoryRegion target = target(bytes + 2 * margin);
    left.memory(target).fill((byte) 0x5A);
    connectedPair()
        .left()
        .postSend(
            List.of(
                new SendWorkRequest(
                    1,
                    entry(target, margin, bytes),
                    source.address() + margin,
                    source.rkey(),
                    true)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
    MemorySegment got = left.memory(target);
    assertThat(got.asSlice(margin, bytes).mismatch(right.memory(source).asSlice(margin, bytes)))
        .isEqualTo(-1);
    assertThat(got.asSlice(0, margin).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x5A);
    assertThat(got.asSlice(margin + bytes).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x5A);
  }

  @Test
  void completeInPostingOrderHoweverManyAreUnderWay() throws Exception {
    MemoryRegion source = source(64 * 1024);
    MemoryRegion target = target(64 * 1024);
    List<SendWorkRequest> reads = new ArrayList<>();
    int count = TestNode.DEPTH;
    for (int i = 0; i < count; i++) {
      reads.add(read(i, target, source, i % 3 == 0 ? 64 * 1024 : 16));
    }
    connectedPair().left().postSend(reads);
    List<Completed> completed = left.await(count);
    assertThat(statuses(completed)).containsOnly(SUCCESS);
    assertThat(wrIds(completed))
        .containsExactlyElementsOf(LongStream.range(0, count).boxed().toList());
  }

  /** As in C. The caller can reuse its request, so posting creates no garbage. */
  @Test
  void requestsMayBeReusedOncePosted() throws Exception {
    MemoryRegion source = source(1_000_000);
    MemoryRegion target = target(1_000_000);
    SendWorkRequest request = read(1, target, source, 1_000_000);
    QueuePair reader = connectedPair().left();
    reader.postSend(List.of(request));
    request.set(2, 0, 1, ~target.lkey(), 0, ~source.rkey(), false);
    List<Completed> completed = left.await(1);
    assertThat(wrIds(completed)).containsExactly(1L);
    assertThat(statuses(completed)).containsExactly(SUCCESS);
    assertThat(left.memory(target).mismatch(right.memory(source))).isEqualTo(-1);
  }

  @Test
  void completeAlsoWhenOnlyOneMayBeUnderWay() throws Exception {
    ConnectionAttributes one = ConnectionAttributes.DEFAULT.with(c -> c.maxRdAtomic = 1);
    MemoryRegion source = source(4096);
    MemoryRegion target = target(4096);
    connectedPair(one).left().postSend(Collections.nCopies(50, read(1, target, source, 4096)));
    assertThat(statuses(left.await(50))).containsOnly(SUCCESS);
  }

  @Test
  void keepsAll64BitsOfTheWorkRequestId() throws Exception {
    connectedPair().left().postSend(List.of(read(0xFEDC_BA98_7654_3210L, target(8), source(8), 8)));
    assertThat(wrIds(left.await(1))).containsExactly(0xFEDC_BA98_7654_3210L);
  }

  @Test
  void unsignaledOnesAreDoneWithTheNextSignaledOne() throws Exception {
    MemoryRegion source = source(4096);
    MemoryRegion target = target(4096);
    Pair pair = connectedPair();
    // Runs more rounds than the queue has places: unsignaled READs must free theirs.
    for (int round = 0; round < 100; round++) {
      left.memory(target).fill((byte) 0);
      List<SendWorkRequest> reads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        reads.add(
            new SendWorkRequest(
                i,
                entry(target, i * 1024L, 1024),
                source.address() + i * 1024L,
                source.rkey(),
                i == 3));
      }
      pair.left().postSend(reads);
      assertThat(wrIds(left.await(1))).containsExactly(3L);
      assertThat(left.memory(target).mismatch(right.memory(source))).isEqualTo(-1);
    }
  }

  @Test
  void fullSendQueueRefusesTheFirstThatDoesNotFitAndRunsTheOthers() throws Exception {
    MemoryRegion source = source(8);
    MemoryRegion target = target(8);
    Pair pair = connectedPair();
    List<SendWorkRequest> reads = new ArrayList<>();
    // A device may grant more places than requested.
    for (int i = 0; i < 7 * TestNode.DEPTH; i++) {
      reads.add(read(i, target, source, 8));
    }
    PostException refused =
        catchThrowableOfType(PostException.class, () -> pair.left().postSend(reads));
    assertThat(refused.errno()).isEqualTo(ENOMEM);
    int places = refused.badIndex();
    assertThat(places).isGreaterThanOrEqualTo(TestNode.DEPTH);
    List<Completed> completed = left.await(places);
    assertThat(statuses(completed)).containsOnly(SUCCESS);
    assertThat(wrIds(completed)).last().isEqualTo(places - 1L);
    assertWorks(pair);
  }

  @Test
  void tooLongOneIsRefusedWithItsIndexAndThoseBeforeItRun() throws Exception {
    MemoryRegion source = source(64);
    MemoryRegion target = target(64);
    Pair pair = connectedPair();
    int tooLong = (int) (left.device.attributes().maxMessageSize() + 1);
    assertThatThrownBy(
            () ->
                pair.left()
                    .postSend(
                        List.of(read(1, target, source, 64), read(2, target, source, tooLong))))
        .isInstanceOfSatisfying(
            PostException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(EINVAL);
              assertThat(e.badIndex()).isEqualTo(1);
            });
    assertThat(wrIds(left.await(1))).containsExactly(1L);
  }

  @Test
  void worksBetweenTwoQueuePairsOfOneDevice() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = left.createQueuePair();
    TestNode.connect(a, b);
    MemoryRegion source = target(MIB);
    fill(left.memory(source), 5);
    MemoryRegion target = target(MIB);
    a.postSend(List.of(read(1, target, source, MIB)));
    b.postSend(List.of(read(2, target, source, MIB)));
    assertThat(statuses(left.await(2))).containsOnly(SUCCESS);
    assertThat(left.memory(target).mismatch(left.memory(source))).isEqualTo(-1);
  }

  @Test
  void bothSidesReadAtTheSameTime() throws Exception {
    MemoryRegion leftSource = target(MIB);
    fill(left.memory(leftSource), 6);
    MemoryRegion leftTarget = target(MIB);
    MemoryRegion rightSource = source(MIB);
    MemoryRegion rightTarget = right.register(MIB, TestNode.ALL);
    Pair pair = connectedPair();
    for (int round = 0; round < 4; round++) {
      pair.left().postSend(Collections.nCopies(32, read(1, leftTarget, rightSource, MIB)));
      pair.right().postSend(Collections.nCopies(32, read(2, rightTarget, leftSource, MIB)));
      assertThat(statuses(left.await(32))).containsOnly(SUCCESS);
      assertThat(statuses(right.await(32))).containsOnly(SUCCESS);
    }
    assertThat(left.memory(leftTarget).mismatch(right.memory(rightSource))).isEqualTo(-1);
    assertThat(right.memory(rightTarget).mismatch(left.memory(leftSource))).isEqualTo(-1);
  }

  @Test
  void manyQueuePairsShareACompletionQueue() throws Exception {
    MemoryRegion source = source(64 * 1024);
    MemoryRegion target = target(64 * 1024);
    int pairs = 20;
    for (int i = 0; i < pairs; i++) {
      connectedPair().left().postSend(Collections.nCopies(20, read(i, target, source, 64 * 1024)));
    }
    assertThat(statuses(left.await(pairs * 20))).containsOnly(SUCCESS);
  }
}
