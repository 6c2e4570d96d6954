package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EINVAL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ffi.CValue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Registration on demand: regions whose pages are not pinned, where the device has it.
 *
 * <p>rxe of kernels 7.2 and 7.3, but for the test bed's, which has a patch, finds the page of an
 * address and forgets where in the page the address is, so that it reads and writes other bytes
 * than it was told to. It is right for packets that begin with a page and fill it, which these
 * tests therefore use; one test shows the others.
 */
@NeedsRdmaDevice
class IbvOdpTest extends IbvTestCase {
  private static final int SEED = 26;

  private void assumeOdp(int transportCap) throws VerbsException {
    IbvDeviceAttr device = context.queryDevice();
    assumeThat(device.get("odp_caps.general_caps") & IbvOdpCaps.SUPPORT)
        .as("on-demand paging, in rxe since kernel 6.16")
        .isNotZero();
    assumeThat(device.get("odp_caps.per_transport_caps.rc_odp_caps") & transportCap).isNotZero();
  }

  private Player onDemand() throws VerbsException {
    return player(
        pd,
        IbvQpInitAttr.of(IbvQpType.RC, context.createCq(64), CAP),
        allocate(MEMORY_BYTES),
        ALL_ACCESS | IbvAccess.ON_DEMAND);
  }

  private Pair onDemandPair() throws VerbsException {
    return byPages(onDemand(), onDemand());
  }

  private Pair byPages(Player client, Player server) throws VerbsException {
    assumeThat(context.queryPort(PORT).activeMtu()).isEqualTo(CValue.of(IbvMtu.MTU_4096));
    return connected(new Connection(gid).mtu(IbvMtu.MTU_4096), client, server);
  }

  @Test
  void aPartOfAPageIsReadWhereItIs() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_READ);
    Pair pair = onDemandPair();
    Player server = pair.server().fill(SEED);

    pair.client()
        .succeed(
            pair.client()
                .request(IbvWrOpcode.RDMA_READ, 100)
                .rdma(server.address(1000), server.mr.rkey()));

    assumeThat(pair.client().memory.asSlice(0, 100).mismatch(server.memory.asSlice(0, 100)))
        .as("rxe of kernels 7.2 and 7.3 reads the start of the page instead")
        .isNotEqualTo(-1);
    pair.client().assertHolds(SEED, 1000, 0, 100);
  }

  private static IbvSendWrList remote(Pair pair, IbvWrOpcode opcode, int bytes) {
    return pair.client()
        .request(opcode, bytes)
        .rdma(pair.server().mr.address(), pair.server().mr.rkey());
  }

  @Test
  void sendReadsAndFillsPagesOnDemand() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_SEND | IbvOdpTransportCaps.SUPPORT_RECV);
    Pair pair = onDemandPair();
    pair.client().fill(SEED);
    pair.server().postReceive(MEMORY_BYTES);

    pair.client().succeed(pair.client().request(IbvWrOpcode.SEND, MEMORY_BYTES));

    pair.server().await();
    pair.server().assertHolds(SEED, MEMORY_BYTES);
  }

  @Test
  void readFetchesPagesOnDemand() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_READ);
    Pair pair = onDemandPair();
    pair.server().fill(SEED);

    pair.client().succeed(remote(pair, IbvWrOpcode.RDMA_READ, MEMORY_BYTES));

    pair.client().assertHolds(SEED, MEMORY_BYTES);
  }

  @Test
  void writeFillsPagesOnDemand() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_WRITE);
    Pair pair = onDemandPair();
    pair.client().fill(SEED);

    pair.client().succeed(remote(pair, IbvWrOpcode.RDMA_WRITE, MEMORY_BYTES));

    pair.server().assertHolds(SEED, MEMORY_BYTES);
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvWrOpcode.class,
      names = {"ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD"})
  void atomicsChangePagesOnDemand(IbvWrOpcode opcode) throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_ATOMIC);
    Pair pair = onDemandPair();
    pair.server().memory.set(JAVA_LONG, 0, 40);

    pair.client()
        .succeed(
            pair.client()
                .request(opcode, Long.BYTES)
                .atomic(
                    pair.server().mr.address(),
                    pair.server().mr.rkey(),
                    opcode == IbvWrOpcode.ATOMIC_FETCH_AND_ADD ? 2 : 40,
                    42));

    assertThat(pair.server().memory.get(JAVA_LONG, 0)).isEqualTo(42);
    assertThat(pair.client().memory.get(JAVA_LONG, 0)).isEqualTo(40);
  }

  @Test
  void aSharedReceiveQueueTakesPagesOnDemand() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_SRQ_RECV);
    IbvSrq srq = pd.createSrq(4, 1);
    IbvCq cq = context.createCq(16);
    Player server =
        player(
            pd,
            new IbvQpInitAttr(IbvQpType.RC, cq, cq, srq, CAP, false),
            allocate(MEMORY_BYTES),
            ALL_ACCESS | IbvAccess.ON_DEMAND);
    Pair pair = byPages(onDemand(), server);
    pair.client().fill(SEED);
    srq.postRecv(server.receive(5000));

    pair.client().succeed(pair.client().request(IbvWrOpcode.SEND, 5000));

    server.await();
    server.assertHolds(SEED, 5000);
  }

  @Test
  void pinnedAndUnpinnedMemoryGoTogether() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_READ);
    Pair pair = byPages(player(IbvQpType.RC), onDemand());
    pair.server().fill(SEED);
    IbvMr unpinned = pd.regMr(pair.client().memory, ALL_ACCESS | IbvAccess.ON_DEMAND);
    IbvSendWrList mixed =
        pair.client()
            .request(IbvWrOpcode.RDMA_READ)
            .sge(pair.client().address(0), PAGE_BYTES, pair.client().mr.lkey())
            .sge(pair.client().address(PAGE_BYTES), PAGE_BYTES, unpinned.lkey())
            .rdma(pair.server().mr.address(), pair.server().mr.rkey());

    pair.client().succeed(mixed);

    pair.client().assertHolds(SEED, 2 * PAGE_BYTES);
  }

  @Test
  void aRegionOnDemandFollowsWhatTheProcessWrites() throws Exception {
    assumeOdp(IbvOdpTransportCaps.SUPPORT_READ);
    Pair pair = onDemandPair();
    for (int round = 0; round < 5; round++) {
      pair.server().fill(SEED + round);
      pair.client().succeed(remote(pair, IbvWrOpcode.RDMA_READ, MEMORY_BYTES));
      pair.client().assertHolds(SEED + round, MEMORY_BYTES);
    }
  }

  @Test
  void aDeviceWithoutItRefusesIt() throws Exception {
    assumeThat(context.queryDevice().get("odp_caps.general_caps")).isZero();

    assertUnsupported(
        () -> pd.regMr(allocate(PAGE_BYTES), IbvAccess.LOCAL_WRITE | IbvAccess.ON_DEMAND));
  }

  /** Kernels say it by either number. */
  private static void assertUnsupported(ThrowingCallable registration) {
    assertThatThrownBy(registration)
        .isInstanceOfSatisfying(
            VerbsException.class,
            e -> assertThat(e.errno()).isIn(VerbsException.EOPNOTSUPP, EINVAL));
  }
}
