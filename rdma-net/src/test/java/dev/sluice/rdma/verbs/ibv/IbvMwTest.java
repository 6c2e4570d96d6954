package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory windows: keys for a part of a region that come and go without registering. */
@NeedsRdmaDevice
class IbvMwTest extends IbvTestCase {
  private static final int SEED = 24;
  private static final int OFFSET = 1000;
  private static final int LENGTH = 2000;
  private static final int WINDOW_ACCESS = IbvAccess.REMOTE_READ | IbvAccess.REMOTE_WRITE;

  private Player client;
  private Player server;

  @BeforeEach
  void connect() throws VerbsException {
    client = player(IbvQpType.RC);
    server = bindable();
    connected(client, server.fill(SEED));
  }

  private Player bindable() throws VerbsException {
    return player(
        pd,
        IbvQpInitAttr.of(IbvQpType.RC, context.createCq(64), CAP),
        allocate(MEMORY_BYTES),
        ALL_ACCESS | IbvAccess.MW_BIND);
  }

  private IbvMw window(IbvMwType type) throws VerbsException {
    return unlessUnsupported(() -> pd.allocMw(type));
  }

  /**
   * @return a type 1 window that is bound to a part of the server's region
   */
  private IbvMw boundType1() throws VerbsException {
    IbvMw mw = window(IbvMwType.TYPE_1);
    bindType1(mw, server.mr, LENGTH);
    return mw;
  }

  private void bindType1(IbvMw mw, IbvMr mr, long length) throws VerbsException {
    server.qp.bindMw(
        mw, 7, IbvSendFlags.SIGNALED, mr, server.address(OFFSET), length, WINDOW_ACCESS);
    Completion bound = server.await();
    assertThat(bound.status()).isEqualTo(IbvWcStatus.SUCCESS);
    assertThat(bound.wrId()).isEqualTo(7);
    assertThat(bound.opcode()).isEqualTo(IbvWcOpcode.BIND_MW);
  }

  /**
   * @return the key of a type 2 window that is bound to a part of the server's region
   */
  private int boundType2(IbvMw mw) throws VerbsException {
    int rkey = IbvMw.nextRkey(mw.rkey());
    server.succeed(
        server
            .request(IbvWrOpcode.BIND_MW)
            .bind(mw, rkey, server.mr, server.address(OFFSET), LENGTH, WINDOW_ACCESS));
    return rkey;
  }

  private IbvSendWrList read(long offset, int bytes, int rkey) {
    return client.request(IbvWrOpcode.RDMA_READ, bytes).rdma(server.address(offset), rkey);
  }

  private void assertMissed(IbvSendWrList request) throws VerbsException {
    assertThat(client.complete(request).status()).isEqualTo(IbvWcStatus.REM_ACCESS_ERR);
  }

  /** rxe checks the bounds of the region behind the window, not those of the window. */
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
  @EnumSource(IbvMwType.class)
  void aWindowIsAllocatedAndClosedTwice(IbvMwType type) throws Exception {
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
            .request(IbvWrOpcode.RDMA_WRITE, 10)
            .rdma(server.address(OFFSET + LENGTH - 10), mw.rkey()));
    assertMissedUnlessRxe(read(OFFSET, LENGTH + 1, mw.rkey()));
  }

  @Test
  void bindingAType1WindowGivesItAnotherKey() throws Exception {
    IbvMw mw = window(IbvMwType.TYPE_1);
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
    int rkey = boundType2(window(IbvMwType.TYPE_2));

    client.succeed(read(OFFSET, LENGTH, rkey));
    client.assertHolds(SEED, OFFSET, 0, LENGTH);
    assertMissedUnlessRxe(read(OFFSET - 1, 8, rkey));
  }

  @Test
  void aType2WindowOpensForItsQueuePairOnly() throws Exception {
    int rkey = boundType2(window(IbvMwType.TYPE_2));
    Pair other = pair(IbvQpType.RC);
    client = other.client();

    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aType2WindowIsInvalidatedHere() throws Exception {
    int rkey = boundType2(window(IbvMwType.TYPE_2));
    client.succeed(read(OFFSET, 8, rkey));

    Completion invalidated = server.succeed(server.request(IbvWrOpcode.LOCAL_INV).invalidate(rkey));

    assertThat(invalidated.opcode()).isEqualTo(IbvWcOpcode.LOCAL_INV);
    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aType2WindowIsInvalidatedByThePeer() throws Exception {
    int rkey = boundType2(window(IbvMwType.TYPE_2));
    server.postReceive(8);

    client.succeed(client.request(IbvWrOpcode.SEND_WITH_INV, 8).invalidate(rkey));
    Completion received = server.await();

    // rxe gives the flag the kernel's number, which is another flag for programs.
    assertThat(received.has(isRxe() ? IbvWcFlags.IP_CSUM_OK : IbvWcFlags.WITH_INV)).isTrue();
    assertThat(received.invalidatedRkey()).isEqualTo(rkey);
    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void aWindowThatWasClosedIsMissed() throws Exception {
    IbvMw mw = window(IbvMwType.TYPE_2);
    int rkey = boundType2(mw);
    mw.close();

    assertMissed(read(OFFSET, 8, rkey));
  }

  @Test
  void windowsAreBoundByTheVerbOfTheirType() throws Exception {
    IbvMw type2 = window(IbvMwType.TYPE_2);

    assertRefused(
        EINVAL,
        () ->
            server.qp.bindMw(
                type2, 1, IbvSendFlags.SIGNALED, server.mr, server.address(0), 8, WINDOW_ACCESS));
  }

  @Test
  void aRegionThatMayNotBeBoundIsRefused() throws Exception {
    IbvMr unbindable = pd.regMr(server.memory, ALL_ACCESS);
    IbvMw mw = window(IbvMwType.TYPE_1);

    server.qp.bindMw(mw, 1, IbvSendFlags.SIGNALED, unbindable, server.address(0), 8, WINDOW_ACCESS);

    assertThat(server.await().status())
        .isEqualTo(isRxe() ? IbvWcStatus.WR_FLUSH_ERR : IbvWcStatus.MW_BIND_ERR);
  }

  /** rxe waits for most of a minute if the queue pair goes first. */
  @Test
  @Timeout(20)
  void aDomainClosesItsWindowsBeforeTheQueuePairsThatTheyAreBoundOn() throws Exception {
    IbvMw mw = window(IbvMwType.TYPE_2);
    boundType2(mw);

    pd.close();

    assertThat(mw.isClosed()).isTrue();
  }
}
