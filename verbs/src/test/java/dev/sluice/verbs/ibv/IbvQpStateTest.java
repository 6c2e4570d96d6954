// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The state machine of queue pairs: transitions, their attributes, and refusals. */
@NeedsRdmaDevice
class IbvQpStateTest extends IbvTestCase {

  /** The states from RESET to ERR, in order. */
  private static final List<IbvQp.State> WAY =
      List.of(IbvQp.State.INIT, IbvQp.State.RTR, IbvQp.State.RTS, IbvQp.State.SQD, IbvQp.State.ERR);

  private static IbvQpAttr to(IbvQp.State state) {
    return new IbvQpAttr().state(state);
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.Type.class,
      names = {"RC", "UC", "UD"})
  void aQueuePairGoesThroughAllStates(IbvQp.Type type) throws Exception {
    IbvQp qp = player(type).qp;
    Connection connection = new Connection(gid);

    assertReaches(qp, connection.init(type));
    assertReaches(qp, connection.rtr(type, qp.qpNum()));
    assertReaches(qp, connection.rts(type));
    assertReaches(qp, to(IbvQp.State.SQD));
    awaitDrained(qp);
    assertReaches(qp, to(IbvQp.State.RTS));
    assertReaches(qp, to(IbvQp.State.ERR));
    assertReaches(qp, to(IbvQp.State.RESET));
    connection.connect(qp, qp);
    assertThat(qp.queryState()).isEqualTo(IbvQp.State.RTS);
  }

  @Test
  void theCurrentStateMayBeNamed() throws Exception {
    IbvQp qp = player(IbvQp.Type.RC).qp;
    new Connection(gid).connect(qp, qp);

    assertReaches(qp, to(IbvQp.State.RTS).curState(IbvQp.State.RTS));
    assertThat(qp.query(IbvQpAttr.Mask.CUR_STATE).curState().is(IbvQp.State.RTS)).isTrue();
    assertThat(qp.query(IbvQpAttr.Mask.PATH_MIG_STATE).pathMigState().is(IbvQp.MigState.MIGRATED))
        .isTrue();
  }

  private static void assertReaches(IbvQp qp, IbvQpAttr step) throws VerbsException {
    qp.modify(step);
    assertThat(qp.queryState()).isEqualTo(step.state().known().orElseThrow());
  }

  private static void awaitDrained(IbvQp qp) throws VerbsException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (qp.query(IbvQpAttr.Mask.STATE).get("sq_draining") != 0) {
      assertThat(System.nanoTime()).as("deadline for draining").isLessThan(deadline);
    }
  }

  /** Returns each attribute that ibv_modify_qp(3) requires, to be omitted from its transition. */
  static Stream<Arguments> requiredAttributes() {
    List<Arguments> all = new ArrayList<>();
    Connection any =
        new Connection(
            new IbvGidEntry(new Gid(0, 0), 0, 1, CValue.of(IbvGidEntry.Type.ROCE_V2), 0));
    for (IbvQp.Type type : List.of(IbvQp.Type.RC, IbvQp.Type.UC, IbvQp.Type.UD)) {
      for (IbvQpAttr step : List.of(any.init(type), any.rtr(type, 1), any.rts(type))) {
        for (int bit = 1; bit != 0 && bit <= step.mask(); bit <<= 1) {
          if ((step.mask() & bit) != 0 && bit != IbvQpAttr.Mask.STATE) {
            all.add(Arguments.of(type, step.state().known().orElseThrow(), bit));
          }
        }
      }
    }
    return all.stream();
  }

  @ParameterizedTest(name = "{0} to {1} without attribute {2}")
  @MethodSource("requiredAttributes")
  void aStepWithoutARequiredAttributeIsRefused(IbvQp.Type type, IbvQp.State state, int attribute)
      throws Exception {
    IbvQp qp = player(type).qp;
    IbvQpAttr complete = bringBefore(state, qp);
    IbvQpAttr without = IbvQpAttr.read(complete.write(arena), complete.mask() & ~attribute);
    IbvQp.State before = qp.queryState();

    assertRefused(EINVAL, () -> qp.modify(without));
    assertThat(qp.queryState()).isEqualTo(before);
    assertReaches(qp, complete);
  }

  /**
   * Takes a queue pair to the state before.
   *
   * @return the attributes of the transition to the state
   */
  private IbvQpAttr bringBefore(IbvQp.State state, IbvQp qp) throws VerbsException {
    Connection connection = new Connection(gid);
    IbvQp.Type type = qp.type().known().orElseThrow();
    if (state == IbvQp.State.INIT) {
      return connection.init(type);
    }
    qp.modify(connection.init(type));
    if (state == IbvQp.State.RTR) {
      return connection.rtr(type, qp.qpNum());
    }
    qp.modify(connection.rtr(type, qp.qpNum()));
    return connection.rts(type);
  }

  @Test
  void attributesOfOtherStepsAreRefused() throws Exception {
    Connection connection = new Connection(gid);
    IbvQp qp = player(IbvQp.Type.RC).qp;

    assertRefused(EINVAL, () -> qp.modify(connection.init(IbvQp.Type.RC).sqPsn(1)));
    qp.modify(connection.init(IbvQp.Type.RC));
    assertRefused(EINVAL, () -> qp.modify(connection.rtr(IbvQp.Type.RC, 17).timeout(14)));
    qp.modify(connection.rtr(IbvQp.Type.RC, 17));
    assertRefused(EINVAL, () -> qp.modify(connection.rts(IbvQp.Type.RC).rqPsn(1)));
  }

  static Stream<Arguments> wrongTransitions() {
    return Stream.of(
        Arguments.of(IbvQp.State.RESET, IbvQp.State.RTR),
        Arguments.of(IbvQp.State.RESET, IbvQp.State.RTS),
        Arguments.of(IbvQp.State.RESET, IbvQp.State.SQD),
        Arguments.of(IbvQp.State.RESET, IbvQp.State.ERR),
        Arguments.of(IbvQp.State.INIT, IbvQp.State.RTS),
        Arguments.of(IbvQp.State.INIT, IbvQp.State.SQD),
        Arguments.of(IbvQp.State.RTR, IbvQp.State.INIT),
        Arguments.of(IbvQp.State.RTR, IbvQp.State.SQD),
        Arguments.of(IbvQp.State.RTS, IbvQp.State.INIT),
        Arguments.of(IbvQp.State.RTS, IbvQp.State.RTR),
        Arguments.of(IbvQp.State.SQD, IbvQp.State.RTR),
        Arguments.of(IbvQp.State.ERR, IbvQp.State.INIT),
        Arguments.of(IbvQp.State.ERR, IbvQp.State.RTS));
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("wrongTransitions")
  void aTransitionThatTheStateMachineLacksIsRefused(IbvQp.State from, IbvQp.State to)
      throws Exception {
    IbvQp qp = player(IbvQp.Type.RC).qp;
    bring(qp, from);

    assertRefused(EINVAL, () -> qp.modify(stepTo(to, qp)));
    assertThat(qp.queryState()).isEqualTo(from);
  }

  private IbvQpAttr stepTo(IbvQp.State state, IbvQp qp) {
    Connection connection = new Connection(gid);
    IbvQp.Type type = qp.type().known().orElseThrow();
    return switch (state) {
      case INIT -> connection.init(type);
      case RTR -> connection.rtr(type, qp.qpNum());
      case RTS -> connection.rts(type);
      default -> to(state);
    };
  }

  private void bring(IbvQp qp, IbvQp.State state) throws VerbsException {
    for (IbvQp.State step : WAY) {
      if (state.value() >= step.value()) {
        qp.modify(stepTo(step, qp));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.State.class,
      names = {"INIT", "RTR", "RTS", "SQD", "ERR"})
  void everyStateButResetLeadsToErrorAndToReset(IbvQp.State state) throws Exception {
    IbvQp first = player(IbvQp.Type.RC).qp;
    IbvQp second = player(IbvQp.Type.RC).qp;
    bring(first, state);
    bring(second, state);

    assertReaches(first, to(IbvQp.State.RESET));
    assertReaches(second, to(IbvQp.State.ERR));
  }

  @Test
  void aPortThatDoesNotExistIsRefused() throws Exception {
    IbvQp qp = player(IbvQp.Type.RC).qp;
    int beyond = context.queryDevice().physPortCnt() + 1;

    assertRefused(EINVAL, () -> qp.modify(new Connection(gid).init(IbvQp.Type.RC).port(beyond)));
  }

  @Test
  void accessMayBeChangedInRts() throws Exception {
    IbvQp qp = pair(IbvQp.Type.RC).client().qp;

    qp.modify(to(IbvQp.State.RTS).accessFlags(IbvMr.Access.REMOTE_READ));

    assertThat(qp.query(IbvQpAttr.Mask.ACCESS_FLAGS).get("qp_access_flags"))
        .isEqualTo(IbvMr.Access.REMOTE_READ);
  }

  @ParameterizedTest
  @EnumSource(
      value = IbvQp.State.class,
      names = {"RESET", "INIT", "RTR"})
  void sendsAreRefusedBeforeRts(IbvQp.State state) throws Exception {
    Player player = player(IbvQp.Type.RC);
    bring(player.qp, state);

    assertRefused(EINVAL, () -> player.qp.postSend(player.request(IbvSendWrList.Opcode.SEND, 8)));
  }

  @Test
  void receivesAreRefusedInReset() throws Exception {
    Player player = player(IbvQp.Type.RC);

    assertRefused(EINVAL, () -> player.postReceive(8));
    bring(player.qp, IbvQp.State.INIT);
    player.postReceive(8);
  }

  @Test
  void sendsThatArePostedInErrorAreFlushed() throws Exception {
    Player client = pair(IbvQp.Type.RC).client();
    client.qp.modify(to(IbvQp.State.ERR));

    assertThat(client.complete(client.request(IbvSendWrList.Opcode.SEND, 8)).status())
        .isEqualTo(IbvWcArray.Status.WR_FLUSH_ERR);
  }

  /** rxe ignores its receive queue in ERR until it is told again to enter ERR. */
  @Test
  void receivesThatArePostedInErrorAreFlushed() throws Exception {
    Player client = pair(IbvQp.Type.RC).client();
    client.qp.modify(to(IbvQp.State.ERR));

    client.postReceive(8);
    if (isRxe()) {
      client.qp.modify(to(IbvQp.State.ERR));
    }

    assertThat(client.await().status()).isEqualTo(IbvWcArray.Status.WR_FLUSH_ERR);
  }

  @Test
  void receivesThatWereWaitingAreFlushedInTheirOrder() throws Exception {
    Player client = pair(IbvQp.Type.RC).client();
    client.qp.postRecv(client.receives().add(10).add(11).add(12));

    client.qp.modify(to(IbvQp.State.ERR));

    assertThat(client.await(3)).extracting(Completion::wrId).containsExactly(10L, 11L, 12L);
    assertThat(client.poll(1)).isEmpty();
  }

  @Test
  void aQueuePairThatWasResetForgetsItsRequests() throws Exception {
    Pair pair = pair(IbvQp.Type.RC);
    Player client = pair.client();
    client.postReceive(8);

    client.qp.modify(to(IbvQp.State.RESET));
    pair.server().qp.modify(to(IbvQp.State.RESET));
    connected(client, pair.server());
    client.qp.postRecv(client.receives().add(77).sge(client.address(0), 8, client.mr.lkey()));
    pair.server().succeed(pair.server().request(IbvSendWrList.Opcode.SEND, 8));

    assertThat(client.await().wrId()).isEqualTo(77);
  }
}
