package dev.sluice.rdma.verbs.ibv;

import static dev.sluice.rdma.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.NeedsRdmaDevice;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The state machine of queue pairs: its steps, their attributes, and what is refused. */
@NeedsRdmaDevice
class IbvQpStateTest extends IbvTestCase {

  /** The way from RESET to ERR through all states. */
  private static final List<IbvQpState> WAY =
      List.of(IbvQpState.INIT, IbvQpState.RTR, IbvQpState.RTS, IbvQpState.SQD, IbvQpState.ERR);

  private static IbvQpAttr to(IbvQpState state) {
    return new IbvQpAttr().state(state);
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQpType.class,
      names = {"RC", "UC", "UD"})
  void aQueuePairGoesThroughAllStates(IbvQpType type) throws Exception {
    IbvQp qp = player(type).qp;
    Connection connection = new Connection(gid);

    assertReaches(qp, connection.init(type));
    assertReaches(qp, connection.rtr(type, qp.qpNum()));
    assertReaches(qp, connection.rts(type));
    assertReaches(qp, to(IbvQpState.SQD));
    awaitDrained(qp);
    assertReaches(qp, to(IbvQpState.RTS));
    assertReaches(qp, to(IbvQpState.ERR));
    assertReaches(qp, to(IbvQpState.RESET));
    connection.connect(qp, qp);
    assertThat(qp.queryState()).isEqualTo(IbvQpState.RTS);
  }

  private static void assertReaches(IbvQp qp, IbvQpAttr step) throws VerbsException {
    qp.modify(step);
    assertThat(qp.queryState()).isEqualTo(step.state());
  }

  private static void awaitDrained(IbvQp qp) throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (qp.query(IbvQpAttrMask.STATE).get("sq_draining") != 0) {
      assertThat(System.nanoTime()).as("deadline for draining").isLessThan(deadline);
    }
  }

  /** Each attribute that ibv_modify_qp(3) lists as required, left out of its step. */
  static Stream<Arguments> requiredAttributes() {
    List<Arguments> all = new ArrayList<>();
    Connection any =
        new Connection(new IbvGidEntry(new Gid(0, 0), 0, 1, CValue.of(IbvGidType.ROCE_V2), 0));
    for (IbvQpType type : List.of(IbvQpType.RC, IbvQpType.UC, IbvQpType.UD)) {
      for (IbvQpAttr step : List.of(any.init(type), any.rtr(type, 1), any.rts(type))) {
        for (int bit = 1; bit != 0 && bit <= step.mask(); bit <<= 1) {
          if ((step.mask() & bit) != 0 && bit != IbvQpAttrMask.STATE) {
            all.add(Arguments.of(type, step.state(), bit));
          }
        }
      }
    }
    return all.stream();
  }

  @ParameterizedTest(name = "{0} to {1} without attribute {2}")
  @MethodSource("requiredAttributes")
  void aStepWithoutARequiredAttributeIsRefused(IbvQpType type, IbvQpState state, int attribute)
      throws Exception {
    IbvQp qp = player(type).qp;
    IbvQpAttr complete = bringBefore(state, qp);
    IbvQpAttr without = IbvQpAttr.read(complete.write(arena), complete.mask() & ~attribute);
    IbvQpState before = qp.queryState();

    assertRefused(EINVAL, () -> qp.modify(without));
    assertThat(qp.queryState()).isEqualTo(before);
    assertReaches(qp, complete);
  }

  /**
   * @return the step to the state
   */
  private IbvQpAttr bringBefore(IbvQpState state, IbvQp qp) throws VerbsException {
    Connection connection = new Connection(gid);
    if (state == IbvQpState.INIT) {
      return connection.init(qp.type());
    }
    qp.modify(connection.init(qp.type()));
    if (state == IbvQpState.RTR) {
      return connection.rtr(qp.type(), qp.qpNum());
    }
    qp.modify(connection.rtr(qp.type(), qp.qpNum()));
    return connection.rts(qp.type());
  }

  @Test
  void attributesOfOtherStepsAreRefused() throws Exception {
    Connection connection = new Connection(gid);
    IbvQp qp = player(IbvQpType.RC).qp;

    assertRefused(EINVAL, () -> qp.modify(connection.init(IbvQpType.RC).sqPsn(1)));
    qp.modify(connection.init(IbvQpType.RC));
    assertRefused(EINVAL, () -> qp.modify(connection.rtr(IbvQpType.RC, 17).timeout(14)));
    qp.modify(connection.rtr(IbvQpType.RC, 17));
    assertRefused(EINVAL, () -> qp.modify(connection.rts(IbvQpType.RC).rqPsn(1)));
  }

  static Stream<Arguments> wrongTransitions() {
    return Stream.of(
        Arguments.of(IbvQpState.RESET, IbvQpState.RTR),
        Arguments.of(IbvQpState.RESET, IbvQpState.RTS),
        Arguments.of(IbvQpState.RESET, IbvQpState.SQD),
        Arguments.of(IbvQpState.RESET, IbvQpState.ERR),
        Arguments.of(IbvQpState.INIT, IbvQpState.RTS),
        Arguments.of(IbvQpState.INIT, IbvQpState.SQD),
        Arguments.of(IbvQpState.RTR, IbvQpState.INIT),
        Arguments.of(IbvQpState.RTR, IbvQpState.SQD),
        Arguments.of(IbvQpState.RTS, IbvQpState.INIT),
        Arguments.of(IbvQpState.RTS, IbvQpState.RTR),
        Arguments.of(IbvQpState.SQD, IbvQpState.RTR),
        Arguments.of(IbvQpState.ERR, IbvQpState.INIT),
        Arguments.of(IbvQpState.ERR, IbvQpState.RTS));
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("wrongTransitions")
  void aTransitionThatTheStateMachineLacksIsRefused(IbvQpState from, IbvQpState to)
      throws Exception {
    IbvQp qp = player(IbvQpType.RC).qp;
    bring(qp, from);

    assertRefused(EINVAL, () -> qp.modify(stepTo(to, qp)));
    assertThat(qp.queryState()).isEqualTo(from);
  }

  private IbvQpAttr stepTo(IbvQpState state, IbvQp qp) {
    Connection connection = new Connection(gid);
    return switch (state) {
      case INIT -> connection.init(qp.type());
      case RTR -> connection.rtr(qp.type(), qp.qpNum());
      case RTS -> connection.rts(qp.type());
      default -> to(state);
    };
  }

  private void bring(IbvQp qp, IbvQpState state) throws VerbsException {
    for (IbvQpState step : WAY) {
      if (state.value() >= step.value()) {
        qp.modify(stepTo(step, qp));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQpState.class,
      names = {"INIT", "RTR", "RTS", "SQD", "ERR"})
  void everyStateButResetLeadsToErrorAndToReset(IbvQpState state) throws Exception {
    IbvQp first = player(IbvQpType.RC).qp;
    IbvQp second = player(IbvQpType.RC).qp;
    bring(first, state);
    bring(second, state);

    assertReaches(first, to(IbvQpState.RESET));
    assertReaches(second, to(IbvQpState.ERR));
  }

  @Test
  void aPortThatDoesNotExistIsRefused() throws Exception {
    IbvQp qp = player(IbvQpType.RC).qp;
    int beyond = context.queryDevice().physPortCnt() + 1;

    assertRefused(EINVAL, () -> qp.modify(new Connection(gid).init(IbvQpType.RC).port(beyond)));
  }

  @Test
  void accessMayBeChangedInRts() throws Exception {
    IbvQp qp = pair(IbvQpType.RC).client().qp;

    qp.modify(to(IbvQpState.RTS).accessFlags(IbvAccess.REMOTE_READ));

    assertThat(qp.query(IbvQpAttrMask.ACCESS_FLAGS).get("qp_access_flags"))
        .isEqualTo(IbvAccess.REMOTE_READ);
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQpState.class,
      names = {"RESET", "INIT", "RTR"})
  void sendsAreRefusedBeforeRts(IbvQpState state) throws Exception {
    Player player = player(IbvQpType.RC);
    bring(player.qp, state);

    assertRefused(EINVAL, () -> player.qp.postSend(player.request(IbvWrOpcode.SEND, 8)));
  }

  @Test
  void receivesAreRefusedInReset() throws Exception {
    Player player = player(IbvQpType.RC);

    assertRefused(EINVAL, () -> player.postReceive(8));
    bring(player.qp, IbvQpState.INIT);
    player.postReceive(8);
  }

  @Test
  void sendsThatArePostedInErrorAreFlushed() throws Exception {
    Player client = pair(IbvQpType.RC).client();
    client.qp.modify(to(IbvQpState.ERR));

    assertThat(client.complete(client.request(IbvWrOpcode.SEND, 8)).status())
        .isEqualTo(IbvWcStatus.WR_FLUSH_ERR);
  }

  /** rxe does not look at its receive queue in ERR until it is told again to go there. */
  @Test
  void receivesThatArePostedInErrorAreFlushed() throws Exception {
    Player client = pair(IbvQpType.RC).client();
    client.qp.modify(to(IbvQpState.ERR));

    client.postReceive(8);
    if (isRxe()) {
      client.qp.modify(to(IbvQpState.ERR));
    }

    assertThat(client.await().status()).isEqualTo(IbvWcStatus.WR_FLUSH_ERR);
  }

  @Test
  void receivesThatWereWaitingAreFlushedInTheirOrder() throws Exception {
    Player client = pair(IbvQpType.RC).client();
    client.qp.postRecv(client.receives().add(10).add(11).add(12));

    client.qp.modify(to(IbvQpState.ERR));

    assertThat(client.await(3)).extracting(Completion::wrId).containsExactly(10L, 11L, 12L);
    assertThat(client.poll(1)).isEmpty();
  }

  @Test
  void aQueuePairThatWasResetForgetsItsRequests() throws Exception {
    Pair pair = pair(IbvQpType.RC);
    Player client = pair.client();
    client.postReceive(8);

    client.qp.modify(to(IbvQpState.RESET));
    pair.server().qp.modify(to(IbvQpState.RESET));
    connected(client, pair.server());
    client.qp.postRecv(client.receives().add(77).sge(client.address(0), 8, client.mr.lkey()));
    pair.server().succeed(pair.server().request(IbvWrOpcode.SEND, 8));

    assertThat(client.await().wrId()).isEqualTo(77);
  }
}
