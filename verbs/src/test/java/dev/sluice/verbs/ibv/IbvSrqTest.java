// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EBUSY;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.ENOMEM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Shared receive queues. */
@NeedsRdmaDevice
class IbvSrqTest extends IbvTestCase {
  private static final int SEED = 23;

  /** Returns a player whose queue pair takes its receives from a shared queue. */
  private Player sharing(IbvSrq srq) throws VerbsException {
    IbvCq cq = context.createCq(64);
    return player(pd, new IbvQpInitAttr(IbvQp.Type.RC, cq, cq, srq, CAP, false));
  }

  private static IbvRecvWrList receive(Player owner, long wrId, long offset) {
    return owner.receives().add(wrId).sge(owner.address(offset), 1000, owner.mr.lkey());
  }

  @Test
  void hasAtLeastTheRequestedCapacity() throws Exception {
    IbvSrq.Attr attr = pd.createSrq(10, 2).query();

    assertThat(attr.maxWr()).isGreaterThanOrEqualTo(10);
    assertThat(attr.maxSge()).isGreaterThanOrEqualTo(2);
    assertThat(attr.limit()).isZero();
  }

  @Test
  void sizesBeyondTheDevicesAreRefused() throws Exception {
    IbvDeviceAttr device = context.queryDevice();

    assertRefused(EINVAL, () -> pd.createSrq((int) device.get("orig_attr.max_srq_wr") + 1, 1));
    assertRefused(EINVAL, () -> pd.createSrq(1, (int) device.get("orig_attr.max_srq_sge") + 1));
    assertRefused(EINVAL, () -> pd.createSrq(0, 1));
  }

  @Test
  void twoQueuePairsTakeTheirReceivesFromIt() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    Pair first = connected(player(IbvQp.Type.RC), sharing(srq));
    Pair second = connected(player(IbvQp.Type.RC), sharing(srq));
    Player owner = first.server();
    for (int i = 0; i < 4; i++) {
      srq.postRecv(receive(owner, i, i * 1000L));
    }

    for (int i = 0; i < 4; i++) {
      Pair turn = i % 2 == 0 ? first : second;
      turn.client().fill(SEED + i);
      turn.client().succeed(turn.client().request(IbvSendWrList.Opcode.SEND, 1000));
      Completion received = turn.server().await();
      assertThat(received.wrId()).isEqualTo(i);
      assertThat(received.qpNum()).isEqualTo(turn.server().qp.qpNum());
      owner.assertHolds(SEED + i, 0, i * 1000L, 1000);
    }
  }

  @Test
  void aQueuePairThatSharesReceivesHasNoneOfItsOwn() throws Exception {
    Player player = sharing(pd.createSrq(16, 1));
    connected(player(IbvQp.Type.RC), player);

    assertRefused(EINVAL, () -> player.postReceive(8));
  }

  @Test
  void aFullQueueRefusesFurtherRequests() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    Player player = sharing(srq);
    IbvRecvWrList requests = player.receives();
    for (int i = 0; i < requests.capacity(); i++) {
      requests.add(i);
    }

    assertThatThrownBy(() -> srq.postRecv(requests))
        .isInstanceOfSatisfying(
            PostException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(ENOMEM);
              assertThat(e.badIndex()).isGreaterThanOrEqualTo(16);
            });
  }

  @Test
  void resizingKeepsTheReceives() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    Pair pair = connected(player(IbvQp.Type.RC), sharing(srq));
    srq.postRecv(receive(pair.server(), 99, 0));

    srq.resize(100);

    assertThat(srq.query().maxWr()).isGreaterThanOrEqualTo(100);
    pair.client().succeed(pair.client().request(IbvSendWrList.Opcode.SEND, 8));
    assertThat(pair.server().await().wrId()).isEqualTo(99);
  }

  @Test
  void resizingBeyondTheDevicesSizeIsRefused() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    int max = (int) context.queryDevice().get("orig_attr.max_srq_wr");

    assertRefused(EINVAL, () -> srq.resize(max + 1));
  }

  @Test
  void aLimitThatIsReachedRaisesOneEvent() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    Pair pair = connected(player(IbvQp.Type.RC), sharing(srq));
    for (int i = 0; i < 4; i++) {
      srq.postRecv(receive(pair.server(), i, 0));
    }
    srq.limit(3);
    assertThat(srq.query().limit()).isEqualTo(3);

    for (int i = 0; i < 3; i++) {
      pair.client().succeed(pair.client().request(IbvSendWrList.Opcode.SEND, 8));
      pair.server().await();
    }

    try (IbvAsyncEvent event = context.awaitAsyncEvent(DEADLINE_MS).orElseThrow()) {
      assertThat(event.type().is(IbvAsyncEvent.Type.SRQ_LIMIT_REACHED)).isTrue();
      assertThat(event.isAbout(srq)).isTrue();
      assertThat(event.text()).isEqualTo("SRQ limit reached");
    }
    assertThat(srq.query().limit()).isZero();
    assertThat(context.awaitAsyncEvent(0)).isEqualTo(Optional.empty());
  }

  @Test
  void aQueueInUseCannotBeClosed() throws Exception {
    IbvSrq srq = pd.createSrq(16, 1);
    Player player = sharing(srq);

    assertRefused(EBUSY, srq::close);
    player.qp.close();
    srq.close();
    srq.close();
    assertRefused(EINVAL, srq::query);
  }
}
