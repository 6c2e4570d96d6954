// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Atomics on remote memory. */
@NeedsRdmaDevice
class IbvAtomicTest extends IbvTestCase {
  private static final long OLD = 0x0102_0304_0506_0708L;

  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    assumeThat(context.queryDevice().atomicCap())
        .isNotEqualTo(CValue.of(IbvDeviceAttr.AtomicCap.NONE));
    Pair pair = pair(IbvQp.Type.RC);
    client = pair.client();
    server = pair.server();
    server.memory.set(JAVA_LONG, 0, OLD);
  }

  private IbvSendWrList atomic(IbvSendWrList.Opcode opcode, long compareAdd, long swap) {
    return client
        .request(opcode, Long.BYTES)
        .atomic(server.mr.address(), server.mr.rkey(), compareAdd, swap);
  }

  private long remote() {
    return server.memory.get(JAVA_LONG, 0);
  }

  private long fetched() {
    return client.memory.get(JAVA_LONG, 0);
  }

  @Test
  void compareAndSwapStoresWhereTheValueIsAsExpected() throws Exception {
    Completion completion =
        client.succeed(atomic(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, OLD, 42));

    assertThat(completion.opcode()).isEqualTo(IbvWcArray.Opcode.COMP_SWAP);
    assertThat(remote()).isEqualTo(42);
    assertThat(fetched()).isEqualTo(OLD);
  }

  @Test
  void compareAndSwapFetchesWhereTheValueIsAnother() throws Exception {
    client.succeed(atomic(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, OLD + 1, 42));

    assertThat(remote()).isEqualTo(OLD);
    assertThat(fetched()).isEqualTo(OLD);
  }

  @Test
  void fetchAndAddAddsAndFetchesTheOldValue() throws Exception {
    Completion completion =
        client.succeed(atomic(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, -3, 0));

    assertThat(completion.opcode()).isEqualTo(IbvWcArray.Opcode.FETCH_ADD);
    assertThat(remote()).isEqualTo(OLD - 3);
    assertThat(fetched()).isEqualTo(OLD);
  }

  @Test
  void additionsOfManyQueuePairsAddUp() throws Exception {
    Pair other = connected(player(IbvQp.Type.RC), player(IbvQp.Type.RC));
    for (int i = 0; i < 50; i++) {
      client.qp.postSend(atomic(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, 1, 0));
      other
          .client()
          .succeed(
              other
                  .client()
                  .request(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, Long.BYTES)
                  .atomic(server.mr.address(), server.mr.rkey(), 1000, 0));
      client.await();
    }

    assertThat(remote()).isEqualTo(OLD + 50 * 1001);
  }

  private void assertFails(IbvWcArray.Status status, IbvSendWrList request) throws VerbsException {
    assertThat(client.complete(request).status()).isEqualTo(status);
    assertThat(remote()).isEqualTo(OLD);
  }

  @Test
  void aQueuePairWithoutTheRightRefusesThem() throws Exception {
    server = player(IbvQp.Type.RC);
    server.memory.set(JAVA_LONG, 0, OLD);
    client = player(IbvQp.Type.RC);
    new Connection(gid)
        .access(ALL_ACCESS & ~IbvMr.Access.REMOTE_ATOMIC)
        .connect(server.qp, client.qp);
    new Connection(gid).connect(client.qp, server.qp);

    assertFails(
        IbvWcArray.Status.REM_INV_REQ_ERR, atomic(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, 1, 0));
  }

  @Test
  void aRegionWithoutTheRightRefusesThem() throws Exception {
    IbvMr withoutAtomics = pd.regMr(server.memory, ALL_ACCESS & ~IbvMr.Access.REMOTE_ATOMIC);

    assertFails(
        IbvWcArray.Status.REM_ACCESS_ERR,
        client
            .request(IbvSendWrList.Opcode.ATOMIC_FETCH_AND_ADD, Long.BYTES)
            .atomic(server.mr.address(), withoutAtomics.rkey(), 1, 0));
  }

  /** rxe's library refuses to post the request. */
  @Test
  void anAddressThatIsNotAlignedIsRefused() throws Exception {
    IbvSendWrList request =
        client
            .request(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, Long.BYTES)
            .atomic(server.mr.address() + 4, server.mr.rkey(), 1, 0);

    if (isRxe()) {
      assertRefused(EINVAL, () -> client.qp.postSend(request));
    } else {
      assertFails(IbvWcArray.Status.REM_INV_REQ_ERR, request);
    }
  }

  @Test
  void anUnknownRemoteKeyIsRefused() throws Exception {
    assertFails(
        IbvWcArray.Status.REM_ACCESS_ERR,
        client
            .request(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP, Long.BYTES)
            .atomic(server.mr.address(), server.mr.rkey() + 1, OLD, 0));
  }

  /** The remote memory has changed: the device notices the wrong key only at the answer. */
  @Test
  void anUnknownLocalKeyIsRefused() throws Exception {
    IbvSendWrList request =
        client
            .request(IbvSendWrList.Opcode.ATOMIC_CMP_AND_SWP)
            .sge(client.address(0), Long.BYTES, client.mr.lkey() + 1)
            .atomic(server.mr.address(), server.mr.rkey(), OLD, 0);

    assertThat(client.complete(request).status()).isEqualTo(IbvWcArray.Status.LOC_PROT_ERR);
  }
}
