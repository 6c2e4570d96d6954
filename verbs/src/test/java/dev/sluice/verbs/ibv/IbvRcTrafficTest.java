// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.ENOMEM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every operation of a reliable connection, with its flags and its lists. */
@NeedsRdmaDevice
class IbvRcTrafficTest extends IbvTestCase {

  /** {@code IB_UVERBS_DEVICE_ATOMIC_WRITE}. */
  private static final long ATOMIC_WRITE = 1L << 40;

  private static final int SEED = 20;
  private static final int IMMEDIATE = 0x12345678;

  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    Pair pair = pair(IbvQp.Type.RC);
    client = pair.client();
    server = pair.server();
  }

  private IbvSendWrList remote(IbvSendWrList.Opcode opcode, int bytes) {
    return client.request(opcode, bytes).rdma(server.mr.address(), server.mr.rkey());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1024, 4097, MEMORY_BYTES})
  void sendArrivesInTheReceive(int bytes) throws Exception {
    client.fill(SEED);
    server.postReceive(MEMORY_BYTES);

    Completion sent = client.succeed(client.request(IbvSendWrList.Opcode.SEND, bytes));
    Completion received = server.await();

    assertThat(sent.opcode()).isEqualTo(IbvWcArray.Opcode.SEND);
    assertThat(received.opcode()).isEqualTo(IbvWcArray.Opcode.RECV);
    assertThat(received.bytes()).isEqualTo(bytes);
    assertThat(received.wrId()).isEqualTo(2);
    assertThat(received.qpNum()).isEqualTo(server.qp.qpNum());
    assertThat(received.has(IbvWcArray.Flags.WITH_IMM)).isFalse();
    server.assertHolds(SEED, bytes);
  }

  @Test
  void sendWithImmediateCarriesTheNumber() throws Exception {
    client.fill(SEED);
    server.postReceive(100);

    client.succeed(client.request(IbvSendWrList.Opcode.SEND_WITH_IMM, 100).immediate(IMMEDIATE));
    Completion received = server.await();

    assertThat(received.opcode()).isEqualTo(IbvWcArray.Opcode.RECV);
    assertThat(received.has(IbvWcArray.Flags.WITH_IMM)).isTrue();
    assertThat(received.immediate()).isEqualTo(IMMEDIATE);
    server.assertHolds(SEED, 100);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1024, 4097, MEMORY_BYTES})
  void writeReachesRemoteMemory(int bytes) throws Exception {
    client.fill(SEED);

    Completion written = client.succeed(remote(IbvSendWrList.Opcode.RDMA_WRITE, bytes));

    assertThat(written.opcode()).isEqualTo(IbvWcArray.Opcode.RDMA_WRITE);
    server.assertHolds(SEED, bytes);
    assertThat(server.poll(1)).isEmpty();
  }

  @Test
  void writeWithImmediateTakesAReceive() throws Exception {
    client.fill(SEED);
    server.qp.postRecv(server.receives().add(5));

    client.succeed(remote(IbvSendWrList.Opcode.RDMA_WRITE_WITH_IMM, 5000).immediate(IMMEDIATE));
    Completion received = server.await();

    assertThat(received.opcode()).isEqualTo(IbvWcArray.Opcode.RECV_RDMA_WITH_IMM);
    assertThat(received.wrId()).isEqualTo(5);
    assertThat(received.bytes()).isEqualTo(5000);
    assertThat(received.immediate()).isEqualTo(IMMEDIATE);
    server.assertHolds(SEED, 5000);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1024, 4097, MEMORY_BYTES})
  void readFetchesRemoteMemory(int bytes) throws Exception {
    server.fill(SEED);

    Completion read = client.succeed(remote(IbvSendWrList.Opcode.RDMA_READ, bytes));

    assertThat(read.opcode()).isEqualTo(IbvWcArray.Opcode.RDMA_READ);
    client.assertHolds(SEED, bytes);
  }

  /** Defined for ibv_wr_atomic_write(3); the effect of ibv_post_send(3) is not documented. */
  @Test
  void anAtomicWriteStoresItsEightBytes() throws Exception {
    assumeThat(context.queryDevice().get("device_cap_flags_ex") & ATOMIC_WRITE)
        .as("device capability ATOMIC_WRITE")
        .isNotZero();
    client.fill(SEED);

    Completion written = client.complete(remote(IbvSendWrList.Opcode.ATOMIC_WRITE, Long.BYTES));

    assumeThat(written.status())
        .as("rxe's library posts it without its remote address")
        .isNotEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
    assertThat(written.opcode()).isEqualTo(IbvWcArray.Opcode.ATOMIC_WRITE);
    server.assertHolds(SEED, Long.BYTES);
  }

  @Test
  void readAndWriteOfNoBytesNeedNoRegion() throws Exception {
    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_READ).rdma(0, 0));
    client.succeed(client.request(IbvSendWrList.Opcode.RDMA_WRITE).rdma(0, 0));
  }

  @Test
  void entriesAreGatheredAndScattered() throws Exception {
    client.fill(SEED);
    server.qp.postRecv(
        server
            .receives()
            .add(1)
            .sge(server.address(9000), 10, server.mr.lkey())
            .sge(server.address(0), 4990, server.mr.lkey()));
    IbvSendWrList gathered =
        client
            .request(IbvSendWrList.Opcode.SEND)
            .sge(client.address(0), 1000, client.mr.lkey())
            .sge(client.address(20000), 3000, client.mr.lkey())
            .sge(client.address(5000), 1000, client.mr.lkey());

    client.succeed(gathered);

    assertThat(server.await().bytes()).isEqualTo(5000);
    server.assertHolds(SEED, 0, 9000, 10);
    server.assertHolds(SEED, 10, 0, 990);
    server.assertHolds(SEED, 20000, 990, 3000);
    server.assertHolds(SEED, 5000, 3990, 1000);
  }

  @Test
  void aReadIsScattered() throws Exception {
    server.fill(SEED);
    IbvSendWrList scattered =
        client
            .request(IbvSendWrList.Opcode.RDMA_READ)
            .sge(client.address(30000), 7000, client.mr.lkey())
            .sge(client.address(1), 3000, client.mr.lkey())
            .rdma(server.address(11), server.mr.rkey());

    client.succeed(scattered);

    client.assertHolds(SEED, 11, 30000, 7000);
    client.assertHolds(SEED, 7011, 1, 3000);
  }

  @Test
  void inlineDataNeedNoRegistration() throws Exception {
    MemorySegment unregistered = arena.allocate(64);
    unregistered.fill((byte) 7);
    server.postReceive(64);

    client.succeed(
        client
            .requests()
            .add(
                1,
                IbvSendWrList.Opcode.SEND,
                IbvSendWrList.Flags.SIGNALED | IbvSendWrList.Flags.INLINE)
            .sge(unregistered.address(), 64, 0));
    server.await();

    assertThat(server.memory.asSlice(0, 64).mismatch(unregistered)).isEqualTo(-1);
  }

  @Test
  void moreInlineDataThanTheQueuePairTakesAreRefused() throws Exception {
    int tooMany = client.qp.cap().maxInlineData() + 1;
    IbvSendWrList requests =
        client
            .requests()
            .add(
                1,
                IbvSendWrList.Opcode.SEND,
                IbvSendWrList.Flags.SIGNALED | IbvSendWrList.Flags.INLINE)
            .sge(client.address(0), tooMany, client.mr.lkey());

    assertRefused(EINVAL, () -> client.qp.postSend(requests));
  }

  @Test
  void aFencedSendHasTheBytesOfTheReadBeforeIt() throws Exception {
    server.fill(SEED);
    server.qp.postRecv(server.receives().add(1).sge(server.address(32768), 8192, server.mr.lkey()));
    IbvSendWrList chain =
        client
            .requests()
            .add(1, IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Flags.SIGNALED)
            .sge(client.address(0), 8192, client.mr.lkey())
            .rdma(server.address(0), server.mr.rkey())
            .add(
                2,
                IbvSendWrList.Opcode.SEND,
                IbvSendWrList.Flags.SIGNALED | IbvSendWrList.Flags.FENCE)
            .sge(client.address(0), 8192, client.mr.lkey());

    client.qp.postSend(chain);

    assertThat(client.await(2)).extracting(Completion::wrId).containsExactly(1L, 2L);
    server.await();
    server.assertHolds(SEED, 0, 32768, 8192);
  }

  @Test
  void unsignaledRequestsAreRetiredByTheSignaledOneBehindThem() throws Exception {
    int batch = client.qp.cap().maxSendWr() / 2;
    for (int round = 0; round < 6; round++) {
      IbvSendWrList requests = client.requests();
      for (int i = 0; i < batch; i++) {
        requests
            .add(
                i,
                IbvSendWrList.Opcode.RDMA_READ,
                i == batch - 1 ? IbvSendWrList.Flags.SIGNALED : 0)
            .sge(client.address(0), 16, client.mr.lkey())
            .rdma(server.address(0), server.mr.rkey());
      }
      assertThat(client.succeed(requests).wrId()).isEqualTo(batch - 1);
      assertThat(client.poll(64)).isEmpty();
    }
  }

  @Test
  void allRequestsAreSignaledWhereTheQueuePairSaysSo() throws Exception {
    IbvCq cq = context.createCq(16);
    Player signaling = player(pd, new IbvQpInitAttr(IbvQp.Type.RC, cq, cq, null, CAP, true));
    connected(signaling, player(IbvQp.Type.RC));

    signaling.succeed(signaling.requests().add(9, IbvSendWrList.Opcode.RDMA_WRITE, 0).rdma(0, 0));
  }

  @Test
  void sendAndReceiveMayCompleteInDifferentQueues() throws Exception {
    IbvCq sendCq = context.createCq(16);
    IbvCq recvCq = context.createCq(16);
    Player split = player(pd, new IbvQpInitAttr(IbvQp.Type.RC, sendCq, recvCq, null, CAP, false));
    Player peer = player(IbvQp.Type.RC);
    connected(split, peer);
    split.postReceive(8);
    IbvWcArray polled = new IbvWcArray(arena, 4);

    peer.succeed(peer.request(IbvSendWrList.Opcode.SEND, 8));
    split.succeed(split.request(IbvSendWrList.Opcode.RDMA_READ).rdma(0, 0));

    assertThat(recvCq.poll(polled)).isOne();
    assertThat(polled.opcode(0).is(IbvWcArray.Opcode.RECV)).isTrue();
    assertThat(sendCq.poll(polled)).isZero();
  }

  @Test
  void aFullSendQueueRefusesFurtherRequestsAndLosesNone() throws Exception {
    int fits = fillSendQueue();

    assertThat(fits).isGreaterThanOrEqualTo(CAP.maxSendWr());
    for (int posted = 0; posted < fits; posted++) {
      server.postReceive(8);
      server.await();
    }
    assertThat(client.await(fits))
        .allMatch(completion -> completion.status() == IbvWcArray.Status.SUCCESS)
        .extracting(Completion::wrId)
        .containsExactlyElementsOf(LongStream.range(0, fits).boxed().toList());
  }

  /** Fills the queue: SENDs wait in it until the server posts a receive. */
  private int fillSendQueue() {
    IbvSendWrList requests = client.requests();
    for (int i = 0; i < requests.capacity(); i++) {
      requests
          .add(i, IbvSendWrList.Opcode.SEND, IbvSendWrList.Flags.SIGNALED)
          .sge(client.address(0), 8, client.mr.lkey());
    }
    return assertFull(() -> client.qp.postSend(requests));
  }

  private static int assertFull(ThrowingCallable post) {
    PostException[] refused = new PostException[1];
    assertThatThrownBy(post).isInstanceOfSatisfying(PostException.class, e -> refused[0] = e);
    assertThat(refused[0].errno()).isEqualTo(ENOMEM);
    return refused[0].badIndex();
  }

  @Test
  void aFullReceiveQueueRefusesFurtherRequests() throws Exception {
    IbvRecvWrList requests = server.receives();
    for (int i = 0; i < requests.capacity(); i++) {
      requests.add(i);
    }

    int fits = assertFull(() -> server.qp.postRecv(requests));

    assertThat(fits).isGreaterThanOrEqualTo(CAP.maxRecvWr());
    server.qp.modify(new IbvQpAttr().state(IbvQp.State.ERR));
    assertThat(server.await(fits)).allMatch(c -> c.status() == IbvWcArray.Status.WR_FLUSH_ERR);
  }

  @Test
  void listsOfMoreEntriesThanTheQueuePairTakesAreRefused() throws Exception {
    IbvSendWrList send = client.request(IbvSendWrList.Opcode.SEND);
    for (int i = 0; i <= client.qp.cap().maxSendSge(); i++) {
      send.sge(client.address(0), 1, client.mr.lkey());
    }
    IbvRecvWrList receive = client.receives().add(1);
    for (int i = 0; i <= client.qp.cap().maxRecvSge(); i++) {
      receive.sge(client.address(0), 1, client.mr.lkey());
    }

    assertRefused(EINVAL, () -> client.qp.postSend(send));
    assertRefused(EINVAL, () -> client.qp.postRecv(receive));
  }

  @Test
  void requestsBeforeARefusedOneArePosted() throws Exception {
    int tooMany = client.qp.cap().maxInlineData() + 1;
    IbvSendWrList chain =
        client
            .requests()
            .add(1, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
            .rdma(0, 0)
            .add(
                2,
                IbvSendWrList.Opcode.SEND,
                IbvSendWrList.Flags.SIGNALED | IbvSendWrList.Flags.INLINE)
            .sge(client.address(0), tooMany, client.mr.lkey())
            .add(3, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
            .rdma(0, 0);

    assertThatThrownBy(() -> client.qp.postSend(chain))
        .isInstanceOfSatisfying(PostException.class, e -> assertThat(e.badIndex()).isEqualTo(1));

    assertThat(client.await().wrId()).isEqualTo(1);
    assertThat(
            client
                .succeed(
                    client
                        .requests()
                        .add(4, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
                        .rdma(0, 0))
                .wrId())
        .isEqualTo(4);
  }

  @Test
  void moreReadsThanMayBeUnderWayCompleteInTheirOrder() throws Exception {
    server.fill(SEED);
    IbvSendWrList reads = client.requests();
    for (int i = 0; i < CAP.maxSendWr(); i++) {
      reads
          .add(i, IbvSendWrList.Opcode.RDMA_READ, IbvSendWrList.Flags.SIGNALED)
          .sge(client.address(i * 2000L), 2000, client.mr.lkey())
          .rdma(server.address(i * 2000L), server.mr.rkey());
    }

    client.qp.postSend(reads);
    List<Completion> completions = client.await(CAP.maxSendWr());

    assertThat(completions).allMatch(c -> c.status() == IbvWcArray.Status.SUCCESS);
    assertThat(completions)
        .extracting(Completion::wrId)
        .containsExactlyElementsOf(LongStream.range(0, CAP.maxSendWr()).boxed().toList());
    client.assertHolds(SEED, CAP.maxSendWr() * 2000);
  }

  @Test
  void requestIdentifiersKeepTheir64Bits() throws Exception {
    long wrId = 0xfedc_ba98_7654_3210L;

    Completion completion =
        client.succeed(
            client
                .requests()
                .add(wrId, IbvSendWrList.Opcode.RDMA_WRITE, IbvSendWrList.Flags.SIGNALED)
                .rdma(0, 0));

    assertThat(completion.wrId()).isEqualTo(wrId);
  }
}
