// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Completion queues: sizes, resizing, polling, overrun. */
@NeedsRdmaDevice
class IbvCqTest extends IbvTestCase {
  private static final long FETCHED = 4711;

  @Test
  void everySizeUpToTheDevicesIsGiven() throws Exception {
    int max = context.queryDevice().maxCqe();
    for (int entries : List.of(1, max / 2, max)) {
      try (IbvCq cq = context.createCq(entries)) {
        assertThat(cq.entries()).isGreaterThanOrEqualTo(entries);
        assertThat(cq.poll(new IbvWcArray(arena, 8))).isZero();
      }
    }
  }

  @Test
  void sizesThatTheDeviceLacksAreRefused() throws Exception {
    int max = context.queryDevice().maxCqe();

    assertRefused(EINVAL, () -> context.createCq(max + 1));
    assertRefused(EINVAL, () -> context.createCq(0));
  }

  @Test
  void aVectorThatTheDeviceLacksIsRefused() throws Exception {
    IbvCompChannel channel = context.createCompChannel();

    assertRefused(EINVAL, () -> context.createCq(16, channel, context.completionVectors()));
    context.createCq(16, channel, context.completionVectors() - 1);
  }

  @Test
  void closingTwiceDoesNothing() throws Exception {
    IbvCq cq = context.createCq(16);
    cq.close();
    cq.close();

    assertThat(cq.isClosed()).isTrue();
    assertRefused(EINVAL, () -> cq.resize(8));
  }

  @Test
  void resizingKeepsUnpolledCompletions() throws Exception {
    Player player = loopback();
    write(player, 10);
    player.cq.resize(1000);
    assertThat(player.cq.entries()).isGreaterThanOrEqualTo(1000);
    assertThat(player.await(5)).extracting(Completion::wrId).containsExactly(0L, 1L, 2L, 3L, 4L);

    player.cq.resize(16);
    assertThat(player.cq.entries()).isGreaterThanOrEqualTo(16);
    assertThat(player.await(5)).extracting(Completion::wrId).containsExactly(5L, 6L, 7L, 8L, 9L);
  }

  @Test
  void resizingBelowTheUnpolledCompletionsIsRefused() throws Exception {
    Player player = loopback();
    write(player, 10);

    assertRefused(EINVAL, () -> player.cq.resize(9));
    assertThat(player.await(10)).allMatch(c -> c.status() == IbvWcArray.Status.SUCCESS);
  }

  @Test
  void resizingBeyondTheDevicesSizeIsRefused() throws Exception {
    IbvCq cq = context.createCq(16);
    int max = context.queryDevice().maxCqe();

    assertRefused(EINVAL, () -> cq.resize(max + 1));
  }

  @Test
  void aPollTakesNoMoreThanItsLimit() throws Exception {
    Player player = loopback();
    write(player, 10);
    assertThat(player.poll(4)).hasSize(4);
    assertThat(player.poll(4)).hasSize(4);
    assertThat(player.poll(4)).hasSize(2);
    assertThat(player.poll(4)).isEmpty();
  }

  @Test
  void queuePairsMayShareAQueueWhichTellsThemApart() throws Exception {
    IbvCq cq = context.createCq(16);
    Player client = player(pd, IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP));
    Player server = player(pd, IbvQpInitAttr.of(IbvQp.Type.RC, cq, CAP));
    connected(client, server);
    server.postReceive(8);

    client.qp.postSend(client.request(IbvSendWrList.Opcode.SEND, 8));

    assertThat(client.await(2))
        .extracting(Completion::qpNum)
        .containsExactlyInAnyOrder(client.qp.qpNum(), server.qp.qpNum());
  }

  /** Returns a queue pair that is connected to itself. */
  private Player loopback() throws Exception {
    Player player = player(pd, IbvQp.Type.RC, CAP);
    new Connection(gid).connect(player.qp, player.qp);
    return player;
  }

  /**
   * Creates a number of completions to poll. An unsignaled READ follows; when its bytes have
   * arrived, the completions are there.
   */
  private void write(Player player, int count) throws Exception {
    player.memory.set(JAVA_LONG, 0, FETCHED);
    player.memory.set(JAVA_LONG, PAGE_BYTES, 0);
    IbvSendWrList requests = player.requests();
    for (int i = 0; i < count; i++) {
      requests.add(i, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED).rdma(0, 0);
    }
    requests
        .add(count, IbvSendWrList.Opcode.RDMA_READ, 0)
        .sge(player.address(PAGE_BYTES), Long.BYTES, player.mr.lkey())
        .rdma(player.address(0), player.mr.rkey());
    player.qp.postSend(requests);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (player.memory.get(JAVA_LONG, PAGE_BYTES) != FETCHED) {
      VarHandle.acquireFence(); // The device writes the number.
      assertThat(System.nanoTime()).as("deadline for the READ").isLessThan(deadline);
      Thread.yield();
    }
  }
}
