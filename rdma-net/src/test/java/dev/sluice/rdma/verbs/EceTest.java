// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvEce;
import dev.sluice.verbs.ibv.IbvGidEntry;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.io.IOException;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Both handshakes agree on the options of both devices (ibv_set_ece(3)), if there are any. */
class EceTest extends FakeAdaptersTestCase {
  private static final int VENDOR = 0x15b3;
  private static final int OTHER_VENDOR = 0x14e4;

  private VerbsQueuePair active;
  private VerbsQueuePair passive;

  @ParameterizedTest
  @EnumSource
  void bothSidesUseTheOptionsThatBothCan(ConnectMode connect) throws Exception {
    open(connect, VENDOR, 0b0111);
    adapters.set(0, "ece_options", 0b1101);
    connect();
    assertThat(active.ibv().queryEce()).isEqualTo(new IbvEce(VENDOR, 0b0101, 0));
    assertThat(passive.ibv().queryEce()).isEqualTo(new IbvEce(VENDOR, 0b0101, 0));
  }

  @ParameterizedTest
  @EnumSource
  void adaptersWithoutOptionsConnectWithoutAWord(ConnectMode connect) throws Exception {
    try (LogCapture log = new LogCapture(Ece.class, Level.WARN)) {
      open(connect, 0, 0);
      connect();
      assertThat(adapters.get(0, "set_ece")).isZero();
      assertThat(log.messages()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anAcceptingAdapterWithoutOptionsHasThePeersTurnedOff(ConnectMode connect) throws Exception {
    open(connect, VENDOR, 0b0111);
    adapters.set(0, "ece_vendor", 0);
    accept();
    adapters.set(0, "ece_vendor", VENDOR);
    complete();
    assertThat(active.ibv().queryEce()).isEqualTo(new IbvEce(VENDOR, 0, 0));
  }

  @ParameterizedTest
  @EnumSource
  void adaptersOfDifferentVendorsConnectWithoutOptions(ConnectMode connect) throws Exception {
    open(connect, VENDOR, 0b0111);
    adapters.set(0, "ece_vendor", OTHER_VENDOR);
    accept();
    if (connect == ConnectMode.CONTROL) { // rdma_cm takes the offer at the request
      assertThat(passive.ibv().queryEce()).isEqualTo(new IbvEce(OTHER_VENDOR, 0, 0));
    }
    adapters.set(0, "ece_vendor", VENDOR);
    complete();
    assertThat(active.ibv().queryEce()).isEqualTo(new IbvEce(VENDOR, 0, 0));
  }

  @ParameterizedTest
  @EnumSource
  void anOfferThatTheAcceptingDeviceRefusesIsNotUsed(ConnectMode connect) throws Exception {
    try (LogCapture log = new LogCapture(Ece.class, Level.WARN)) {
      open(connect, VENDOR, 0b0111);
      adapters.set(0, "set_ece_error", VerbsException.EINVAL);
      accept();
      QueuePairAddress met = TestNode.meet(active, passive.address());
      adapters.set(0, "set_ece_error", 0);
      complete(met);
      assertThat(active.ibv().queryEce()).isEqualTo(new IbvEce(VENDOR, 0, 0));
      assertThat(passive.ibv().queryEce().options()).isZero();
      assertThat(log.messages()).isEmpty();
    }
  }

  /** The peer already uses the options, so READs could deliver wrong bytes or none. */
  @ParameterizedTest
  @EnumSource
  void anAnswerThatTheConnectingDeviceRefusesEndsTheConnection(ConnectMode connect)
      throws Exception {
    open(connect, VENDOR, 0b0111);
    accept();
    QueuePairAddress met = TestNode.meet(active, passive.address());
    adapters.set(0, "set_ece_error", VerbsException.EINVAL);
    assertThatThrownBy(() -> complete(met))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL))
        .hasMessageContaining("ibv_set_ece");
    assertThat(active.state()).isEqualTo(QueuePairState.INIT);
  }

  @Test
  void aPeerOfTheFirstReleaseSeesAnAddressAsItKnowsThem() throws Exception {
    assertThat(ControlHandshake.providerData(false, Ece.NONE)).isEmpty();
    assertThat(ControlHandshake.providerData(true, Ece.NONE)).containsExactly(1);
    byte[] withOptions = ControlHandshake.providerData(false, new IbvEce(VENDOR, 0x80000005, 0));
    assertThat(HexFormat.of().formatHex(withOptions)).isEqualTo("00000015b380000005");
  }

  @Test
  void aPeerOfTheFirstReleaseIsConnectedWithoutOptions() throws Exception {
    open(ConnectMode.CONTROL, VENDOR, 0b0111);
    passive.toInit(TestNode.ALL);
    passive.toRtr(active.address().withProviderData(new byte[0]), TestNode.SHORT_TIMEOUT);
    assertThat(passive.address().providerData()).isEmpty();
    complete();
    assertThat(active.ibv().queryEce().options()).isZero();
    assertThat(passive.ibv().queryEce().options()).isZero();
  }

  @Test
  void anAcceptanceThatCarriesNoOptionsTurnsThemOff() throws Exception {
    open(ConnectMode.CM, VENDOR, 0b0111);
    adapters.set(0, "cm_without_ece", 1);
    connect();
    assertThat(active.ibv().queryEce()).isEqualTo(new IbvEce(VENDOR, 0, 0));
  }

  @Test
  void anEndpointAnswersWithTheOptionsThatItUses() throws Exception {
    open(ConnectMode.CONTROL, VENDOR, 0b0111);
    adapters.set(0, "ece_options", 0b0101);
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open(devices("mlx5_0")))) {
      QueuePairAddress answer =
          loopback.endpoint.accept("peer", active.address()).get(30, TimeUnit.SECONDS);
      assertThat(answer.providerData())
          .isEqualTo(ControlHandshake.providerData(false, new IbvEce(VENDOR, 0b0101, 0)));
    }
  }

  /** A peer of the first release compares all of the data with its flag. */
  @Test
  void aPortThatRequiresAGrhTellsEveryPeer() throws Exception {
    adapters.set(0, "link_layer", IbvPortAttr.LinkLayer.INFINIBAND.value());
    adapters.set(0, "lid", 1);
    adapters.set(0, "flags", IbvPortAttr.Flags.GRH_REQUIRED);
    adapters.gid(0, 0, IbvGidEntry.Type.IB, "10.0.0.1");
    open(ConnectMode.CONTROL, VENDOR, 0b0111);
    assertThat(active.address().providerData()).containsExactly(1);
  }

  private void open(ConnectMode connect, int vendor, int options)
      throws IOException, VerbsException {
    adapters.set(0, "ece_vendor", vendor);
    adapters.set(0, "ece_options", options);
    TestNode node = new TestNode(open(devices("mlx5_0").with(o -> o.connect = connect)));
    active = (VerbsQueuePair) node.createQueuePair();
    passive = (VerbsQueuePair) node.createQueuePair();
    active.toInit(TestNode.ALL);
  }

  private void connect() throws VerbsException {
    accept();
    complete();
  }

  /** Moves the accepting side to the state from which it answers. */
  private void accept() throws VerbsException {
    passive.toInit(TestNode.ALL);
    passive.toRtr(active.address(), TestNode.SHORT_TIMEOUT);
  }

  private void complete() throws VerbsException {
    complete(TestNode.meet(active, passive.address()));
  }

  private void complete(QueuePairAddress met) throws VerbsException {
    active.toRtr(met, TestNode.SHORT_TIMEOUT);
    active.toRts();
  }
}
