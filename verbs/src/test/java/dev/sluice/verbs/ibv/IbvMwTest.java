// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory windows: keys for a part of a region, created and revoked without registration. */
@NeedsRdmaDevice
class IbvMwTest extends IbvTestCase {
  private static final int SEED = 24;
  private static final int OFFSET = 1000;
  private static final int LENGTH = 2000;
  private static final int WINDOW_ACCESS = IbvMr.Access.REMOTE_READ | IbvMr.Access.REMOTE_WRITE;

  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    client = player(IbvQp.Type.RC);
    server = bindable();
    connected(client, server.fill(SEED));
  }

  private Player bindable() throws VerbsException {
    return player(
        pd,
        IbvQpInitAttr.of(IbvQp.Type.RC, context.createCq(64), CAP),
        allocate(MEMORY_BYTES),
        ALL_ACCESS | IbvMr.Access.MW_BIND);
  }

  private IbvMw window(IbvMw.Type type) throws VerbsException {
    return unlessUnsupported(() -> pd.allocMw(type));
  }

  /**
   * @return a type 1 window that is bound to a part of the server's region
   */
  private IbvMw boundType1() throws VerbsException {
    IbvMw mw = window(IbvMw.Type.TYPE_1);
    bindType1(mw, server.mr, LENGTH);
    return mw;
  }

  private void bindType1(IbvMw mw, IbvMr mr, long length) throws VerbsException {
    server.qp.bindMw(
        mw, 7, IbvSendWrList.Flags.SIGNALED, mr, server.address(OFFSET), length, WINDOW_ACCESS);
    Completion bound = server.await();
    assertThat(bound.status()).isEqualTo(IbvWcArray.Status.SUCCESS);
    assertThat(bound.wrId()).isEqualTo(7);
    assertThat(bound.opcode()).isEqualTo(IbvWcArray.Opcode.BIND_MW);
  }

  /**
   * @return the key of a type 2 window that is bound to a part of the server's region
   */
  private int boundType2(IbvMw mw) throws VerbsException {
    int rkey = IbvMw.nextRkey(mw.rkey());
    server.succeed(
        server
            .request(IbvSendWrList.Opcode.BIND_MW)
            .bind(mw, rkey, server.mr, server.address(OFFSET), LENGTH, WINDOW_ACCESS));
    return rkey;
  }

  private IbvSendWrList read(long offset, int bytes, int rkey) {
    return client.request(IbvSendWrList.Opcode.RDMA_READ, bytes).rdma(server.address(offset), rkey);
  }

  private void assertMissed(IbvSendWrList request) throws VerbsException {
    assertThat(client.complete(request).status()).isEqualTo(IbvWcArray.Status.REM_ACCESS_ERR);
  }

  /** Expects a failure, except from rxe, which checks the region's bounds instead. */
  private void assertMissedUnlessRxe(IbvSendWrList request) throws VerbsException {
    if (isRxe()) {
      client.succeed(request);
    } else {
      assertMissed(request);
    }
  }

  @Test
  void noBytesOutsideOfTheRegionAreReadThroughAWindow() throws Exception {
    IbvMw mw = boundType1();

    assertMissed(read(MEMORY_BYTES - 8, 9, mw.rkey()));
  }

  @ParameterizedTest
  @EnumSource(IbvMw.Type.class)
  void aWindowIsAllocatedAndClosedTwice(IbvMw.Type type) throws Exception {
    IbvMw mw = window(type);

    assertThat(mw.type()).isEqualTo(type);
    mw.close();
    mw.close();
    assertThat(mw.isClosed()).isTrue();
  }

  @Test
  void aType1WindowOpensItsPartOfTheRegion() throws Exception {
    IbvMw mw = boundType1();

    client.succeed(read(OFFSET, LENGTH, mw.rkey()));
    client.assertHolds(SEED, OFFSET, 0, LENGTH);
    client.succeed(
        client
            .request(IbvSendWrList.Opcode.RDMA_WRITE, 10)
            .rdma(server.address(OFFSET + LENGTH - 10), mw.rkey()));
    assertMissedUnlessRxe(read(OFFSET, LENGTH + 1, mw.rkey()));
  }

  @Test
  void bindingAType1WindowGivesItAnotherKey() throws Exception {
    IbvMw mw = window(IbvMw.Type.TYPE_1);
    int before = mw.rkey();
    bindType1(mw, server.mr, LENGTH);

    assertThat(mw.rkey()).isNotEqualTo(before);
  }

  @Test
  void aType1WindowIsInvalidatedByBindingItToNoBytes() throws Exception {
    IbvMw mw = boundType1();
    int rkey = mw.rkey();
    bindType1(mw, server.mr, 0);

    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aType2WindowOpensItsPartOfTheRegion() throws Exception {
    int rkey = boundType2(window(IbvMw.Type.TYPE_2));

    client.succeed(read(OFFSET, LENGTH, rkey));
    client.assertHolds(SEED, OFFSET, 0, LENGTH);
    assertMissedUnlessRxe(read(OFFSET - 1, 8, rkey));
  }

  @Test
  void aType2WindowOpensForItsQueuePairOnly() throws Exception {
    int rkey = boundType2(window(IbvMw.Type.TYPE_2));
    Pair other = pair(IbvQp.Type.RC);
    client = other.client();

    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aType2WindowIsInvalidatedHere() throws Exception {
    int rkey = boundType2(window(IbvMw.Type.TYPE_2));
    client.succeed(read(OFFSET, 8, rkey));

    Completion invalidated =
        server.succeed(server.request(IbvSendWrList.Opcode.LOCAL_INV).invalidate(rkey));

    assertThat(invalidated.opcode()).isEqualTo(IbvWcArray.Opcode.LOCAL_INV);
    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aType2WindowIsInvalidatedByThePeer() throws Exception {
    int rkey = boundType2(window(IbvMw.Type.TYPE_2));
    server.postReceive(8);

    client.succeed(client.request(IbvSendWrList.Opcode.SEND_WITH_INV, 8).invalidate(rkey));
    Completion received = server.await();

    // rxe uses the kernel's number for this flag, which programs know as another flag.
    assertThat(received.has(isRxe() ? IbvWcArray.Flags.IP_CSUM_OK : IbvWcArray.Flags.WITH_INV))
        .isTrue();
    assertThat(received.invalidatedRkey()).isEqualTo(rkey);
    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aWindowThatWasClosedIsMissed() throws Exception {
    IbvMw mw = window(IbvMw.Type.TYPE_2);
    int rkey = boundType2(mw);
    mw.close();

    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void windowsAreBoundByTheVerbOfTheirType() throws Exception {
    IbvMw type2 = window(IbvMw.Type.TYPE_2);

    assertRefused(
        EINVAL,
        () ->
            server.qp.bindMw(
                type2,
                1,
                IbvSendWrList.Flags.SIGNALED,
                server.mr,
                server.address(0),
                8,
                WINDOW_ACCESS));
  }

  @Test
  void aRegionThatMayNotBeBoundIsRefused() throws Exception {
    IbvMr unbindable = pd.regMr(server.memory, ALL_ACCESS);
    IbvMw mw = window(IbvMw.Type.TYPE_1);

    server.qp.bindMw(
        mw, 1, IbvSendWrList.Flags.SIGNALED, unbindable, server.address(0), 8, WINDOW_ACCESS);

    assertThat(server.await().status())
        .isEqualTo(isRxe() ? IbvWcArray.Status.WR_FLUSH_ERR : IbvWcArray.Status.MW_BIND_ERR);
  }

  /** rxe waits for most of a minute if the queue pair is closed first. */
  @Test
  @Timeout(20)
  void aDomainClosesItsWindowsBeforeTheQueuePairsThatTheyAreBoundOn() throws Exception {
    IbvMw mw = window(IbvMw.Type.TYPE_2);
    boundType2(mw);

    pd.close();

    assertThat(mw.isClosed()).isTrue();
  }
}
