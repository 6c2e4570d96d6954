// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static dev.sluice.verbs.VerbsException.EOPNOTSUPP;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The work request API and extended completions on a device. */
@NeedsRdmaDevice
class IbvExtendedTest extends IbvTestCase {
  private static final int SEED = 77;
  private static final int BYTES = 3000;
  private static final int OPS =
      IbvQpEx.SendOps.RDMA_WRITE
          | IbvQpEx.SendOps.RDMA_WRITE_WITH_IMM
          | IbvQpEx.SendOps.SEND
          | IbvQpEx.SendOps.SEND_WITH_IMM
          | IbvQpEx.SendOps.RDMA_READ
          | IbvQpEx.SendOps.ATOMIC_CMP_AND_SWP
          | IbvQpEx.SendOps.ATOMIC_FETCH_AND_ADD;
  private static final int WC_FLAGS =
      IbvCqEx.WcFlags.BYTE_LEN
          | IbvCqEx.WcFlags.IMM
          | IbvCqEx.WcFlags.QP_NUM
          | IbvCqEx.WcFlags.SRC_QP
          | IbvCqEx.WcFlags.SLID
          | IbvCqEx.WcFlags.SL
          | IbvCqEx.WcFlags.DLID_PATH_BITS;

  private IbvCqEx clientCq;
  private Player client;
  private Player server;
  private IbvQpEx ex;

  @BeforeEach
  void connect() throws VerbsException {
    use(IbvQp.Type.RC, OPS);
  }

  private void use(IbvQp.Type type, int ops) throws VerbsException {
    clientCq = unlessUnsupported(() -> context.createCqEx(IbvCqInitAttrEx.of(64, WC_FLAGS)));
    IbvQpInitAttr attr = IbvQpInitAttr.of(type, clientCq.cq(), CAP);
    IbvQp qp = unlessUnsupported(() -> pd.createQpEx(IbvQpInitAttrEx.of(attr, ops)));
    int access = type == IbvQp.Type.RC ? ALL_ACCESS : IbvMr.Access.LOCAL_WRITE;
    client = new Player(arena, qp, clientCq.cq(), pd.regMr(allocate(MEMORY_BYTES), access));
    server = player(type);
    connected(client, server);
    ex = qp.toQpEx();
  }

  /**
   * Flags of requests. In rdma-core 44 rxe's library requires INLINE as well, which the manual page
   * says is implied.
   */
  private int flags = IbvSendWrList.Flags.SIGNALED;

  private interface Request {
    void add() throws VerbsException;
  }

  /** Posts one signaled request and starts a poll at its completion. */
  private void succeed(long wrId, Request request) throws VerbsException {
    ex.wrStart();
    ex.wrId(wrId);
    ex.wrFlags(flags);
    request.add();
    ex.wrComplete();
    startPoll();
    assertThat(clientCq.status()).isEqualTo(IbvWcArray.Status.SUCCESS);
    assertThat(clientCq.wrId()).isEqualTo(wrId);
  }

  private void startPoll() throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (!clientCq.startPoll()) {
      assertThat(System.nanoTime()).as("deadline").isLessThan(deadline);
      Thread.yield();
    }
  }

  private void setSge(int bytes) throws VerbsException {
    ex.setSge(client.mr.lkey(), client.address(0), bytes);
  }

  @Test
  void aReadFetchesRemoteMemory() throws Exception {
    server.fill(SEED);
    succeed(
        5,
        () -> {
          ex.rdmaRead(server.mr.rkey(), server.mr.address());
          setSge(BYTES);
        });
    assertThat(clientCq.readOpcode()).isEqualTo(IbvWcArray.Opcode.RDMA_READ.value());
    assertThat(clientCq.readByteLen()).isEqualTo(BYTES);
    assertThat(clientCq.readQpNum()).isEqualTo(client.qp.qpNum());
    assertThat(clientCq.nextPoll()).isFalse();
    clientCq.endPoll();
    client.assertHolds(SEED, BYTES);
  }

  /** Pieces of equal length: in rdma-core 44 rxe's library applies the first length to each. */
  @Test
  void aWriteGathersSeveralPlaces() throws Exception {
    client.fill(SEED);
    IbvSgeList list = new IbvSgeList(arena, 2);
    list.add(client.address(0), 1500, client.mr.lkey());
    list.add(client.address(1500), 1500, client.mr.lkey());
    succeed(
        6,
        () -> {
          ex.rdmaWrite(server.mr.rkey(), server.mr.address());
          ex.setSgeList(list);
        });
    clientCq.endPoll();
    server.assertHolds(SEED, BYTES);
  }

  @Test
  void immediateDataAndInlineBytesArrive() throws Exception {
    flags |= IbvSendWrList.Flags.INLINE;
    client.fill(SEED);
    server.postReceive(64);
    succeed(
        7,
        () -> {
          ex.sendImm(0x01020304);
          ex.setInlineData(client.address(0), 32);
        });
    clientCq.endPoll();
    Completion received = server.await();
    assertThat(received.immediate()).isEqualTo(0x01020304);
    assertThat(received.bytes()).isEqualTo(32);
    server.assertHolds(SEED, 32);

    server.postReceive(64);
    succeed(
        8,
        () -> {
          ex.rdmaWriteImm(server.mr.rkey(), server.address(100), 9);
          ex.setInlineData(client.address(0), 16);
        });
    clientCq.endPoll();
    assertThat(server.await().immediate()).isEqualTo(9);
    server.assertHolds(SEED, 0, 100, 16);
  }

  /** In rdma-core 44 rxe's library sends none of the bytes. */
  @Test
  void inlineBytesOfSeveralPlacesArrive() throws Exception {
    flags |= IbvSendWrList.Flags.INLINE;
    client.fill(SEED);
    server.postReceive(64);
    IbvSgeList list = new IbvSgeList(arena, 2).addInline(client.address(0), 8);
    list.addInline(client.address(8), 24);
    succeed(
        7,
        () -> {
          ex.send();
          ex.setInlineDataList(list);
        });
    clientCq.endPoll();
    int bytes = server.await().bytes();
    assertThat(bytes).isIn(isRxe() ? List.of(0, 32) : List.of(32));
    server.assertHolds(SEED, bytes);
  }

  @Test
  void atomicsChangeRemoteMemory() throws Exception {
    server.memory.set(JAVA_LONG, 0, 40);
    succeed(
        1,
        () -> {
          ex.atomicFetchAdd(server.mr.rkey(), server.mr.address(), 2);
          setSge(Long.BYTES);
        });
    clientCq.endPoll();
    assertThat(client.memory.get(JAVA_LONG, 0)).isEqualTo(40);
    succeed(
        2,
        () -> {
          ex.atomicCmpSwp(server.mr.rkey(), server.mr.address(), 42, 7);
          setSge(Long.BYTES);
        });
    clientCq.endPoll();
    assertThat(server.memory.get(JAVA_LONG, 0)).isEqualTo(7);
  }

  @Test
  void anAtomicWriteStoresEightBytes() throws Exception {
    IbvQpInitAttrEx attr =
        IbvQpInitAttrEx.of(
            IbvQpInitAttr.of(IbvQp.Type.RC, clientCq.cq(), CAP), IbvQpEx.SendOps.ATOMIC_WRITE);
    unlessUnsupported(() -> pd.createQpEx(attr)).close();
    use(IbvQp.Type.RC, IbvQpEx.SendOps.ATOMIC_WRITE);
    succeed(3, () -> ex.atomicWrite(server.mr.rkey(), server.mr.address(), 0x1122334455667788L));
    assertThat(clientCq.readOpcode()).isEqualTo(IbvWcArray.Opcode.ATOMIC_WRITE.value());
    clientCq.endPoll();
    assertThat(server.memory.get(JAVA_LONG, 0)).isEqualTo(0x1122334455667788L);
  }

  @Test
  void aBatchIsPolledAsOne() throws Exception {
    server.fill(SEED);
    ex.wrStart();
    ex.wrFlags(IbvSendWrList.Flags.SIGNALED);
    for (int i = 0; i < 9; i++) {
      ex.wrId(i);
      ex.rdmaRead(server.mr.rkey(), server.address(i * 100));
      ex.setSge(client.mr.lkey(), client.address(i * 100), 100);
    }
    ex.wrComplete();
    // READs complete in order. When the bytes of the ninth READ are there, so are eight
    // completions, and no nextPoll finds the queue empty. After an empty nextPoll, rxe's library
    // counts one too many (docs/verbs.md).
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!client.holds(SEED, 800, 800, 100)) {
      assertThat(System.nanoTime()).as("waiting for the ninth READ").isLessThan(deadline);
    }
    startPoll();
    for (int i = 0; i < 8; i++) {
      assertThat(clientCq.wrId()).isEqualTo(i);
      assertThat(clientCq.status()).isEqualTo(IbvWcArray.Status.SUCCESS);
      if (i < 7) {
        assertThat(clientCq.nextPoll()).isTrue();
      }
    }
    clientCq.endPoll();
    startPoll();
    assertThat(clientCq.wrId()).isEqualTo(8);
    clientCq.endPoll();
    client.assertHolds(SEED, 900);
  }

  @Test
  void anAbortedBatchPostsNothing() throws Exception {
    client.fill(SEED);
    ex.wrStart();
    ex.wrId(1);
    ex.wrFlags(IbvSendWrList.Flags.SIGNALED);
    ex.rdmaWrite(server.mr.rkey(), server.mr.address());
    setSge(BYTES);
    ex.wrAbort();
    server.fill(SEED + 1);
    aReadFetches(SEED + 1);
  }

  private void aReadFetches(int seed) throws VerbsException {
    succeed(
        9,
        () -> {
          ex.rdmaRead(server.mr.rkey(), server.mr.address());
          setSge(BYTES);
        });
    clientCq.endPoll();
    client.assertHolds(seed, BYTES);
  }

  @Test
  void ibvPostSendGoesOnWorking() throws Exception {
    server.fill(SEED);
    IbvSendWrList read = client.request(IbvSendWrList.Opcode.RDMA_READ, BYTES);
    client.qp.postSend(read.rdma(server.mr.address(), server.mr.rkey()));
    startPoll();
    assertThat(clientCq.status()).isEqualTo(IbvWcArray.Status.SUCCESS);
    clientCq.endPoll();
    client.assertHolds(SEED, BYTES);
  }

  @Test
  void operationsThatWereNotAskedForAreRefused() throws Exception {
    use(IbvQp.Type.RC, IbvQpEx.SendOps.RDMA_READ);
    ex.wrStart();
    assertRefused(EOPNOTSUPP, () -> ex.rdmaWrite(server.mr.rkey(), server.mr.address()));
    ex.wrAbort();
    assertRefused(EOPNOTSUPP, () -> server.qp.toQpEx());
  }

  @Test
  void datagramsHaveTheirDestinationAndSource() throws Exception {
    use(IbvQp.Type.UD, IbvQpEx.SendOps.SEND);
    IbvAh ah = pd.createAh(new Connection(gid).address());
    client.fill(SEED);
    server.postReceive(40 + 500);
    succeed(
        4,
        () -> {
          ex.send();
          ex.setUdAddr(ah, server.qp.qpNum(), QKEY);
          setSge(500);
        });
    clientCq.endPoll();
    assertThat(server.await().srcQp()).isEqualTo(client.qp.qpNum());
    server.assertHolds(SEED, 0, 40, 500);

    client.postReceive(40 + 500);
    server.succeed(
        server.request(IbvSendWrList.Opcode.SEND, 100).datagram(ah, client.qp.qpNum(), QKEY));
    startPoll();
    assertThat(clientCq.readSrcQp()).isEqualTo(server.qp.qpNum());
    assertThat(clientCq.readByteLen()).isEqualTo(140);
    assertThat(clientCq.readWcFlags() & IbvWcArray.Flags.GRH).isNotZero();
    clientCq.readSlid();
    clientCq.readSl();
    clientCq.readDlidPathBits();
    clientCq.endPoll();
  }

  @Test
  void softRoceRefusesTimeStampsXrcAndEce() throws Exception {
    assumeThat(isRxe()).isTrue();
    int stamps = IbvCqEx.WcFlags.COMPLETION_TIMESTAMP;
    assertRefused(EOPNOTSUPP, () -> context.createCqEx(IbvCqInitAttrEx.of(16, stamps)));
    assertRefused(EOPNOTSUPP, () -> context.openXrcd(-1, 64));
    assertRefused(EOPNOTSUPP, () -> server.qp.queryEce());
    assertRefused(EOPNOTSUPP, () -> server.qp.setEce(new IbvEce(0, 0, 0)));
    IbvSrqInitAttrEx xrc = IbvSrqInitAttrEx.xrc(4, 1, null, server.cq);
    assertRefused(EINVAL, () -> pd.createSrqEx(xrc));
    IbvSrqInitAttrEx basic = new IbvSrqInitAttrEx(IbvSrq.Type.BASIC, 4, 1, null, null, 0, 0);
    assertThatThrownBy(() -> pd.createSrqEx(basic).srqNum()).isInstanceOf(VerbsException.class);
    IbvQpInitAttr attr = IbvQpInitAttr.of(IbvQp.Type.RC, server.cq, CAP);
    int unknown = 1 << 20;
    assertRefused(EOPNOTSUPP, () -> pd.createQpEx(new IbvQpInitAttrEx(attr, 0, unknown, 0)));
  }
}
