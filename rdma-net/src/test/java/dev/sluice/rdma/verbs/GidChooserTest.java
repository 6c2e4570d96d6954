// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static dev.sluice.rdma.verbs.GidEntry.Type.IB;
import static dev.sluice.rdma.verbs.GidEntry.Type.ROCE_V1;
import static dev.sluice.rdma.verbs.GidEntry.Type.ROCE_V2;
import static dev.sluice.rdma.verbs.GidEntry.Type.UNREADABLE;
import static dev.sluice.rdma.verbs.VerbsOptions.AUTO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.verbs.GidPolicy.AddressRange;
import dev.sluice.rdma.verbs.GidPolicy.Family;
import dev.sluice.rdma.verbs.PortChooser.PortRefusal;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import dev.sluice.verbs.IpLiteral;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GidChooserTest {
  private static final String LOOPBACK = "127.0.0.1";

  /** The table of a ConnectX with an IPv4 address, an IPv6 address, and a VLAN. */
  private static TestPorts connectX() {
    return TestPorts.roce("mlx5_0")
        .gid(0, "fe80::1", ROCE_V1)
        .gid(1, "fe80::1", ROCE_V2)
        .gid(2, "2001:db8::1", ROCE_V1)
        .gid(3, "2001:db8::1", ROCE_V2)
        .gid(4, "10.0.0.1", ROCE_V1)
        .gid(5, "10.0.0.1", ROCE_V2)
        .gid(6, "10.7.0.1", ROCE_V1)
        .gid(7, "10.7.0.1", ROCE_V2);
  }

  private static int choose(TestPorts port, GidPolicy policy, String local) throws PortRefusal {
    return new GidChooser(policy, IpLiteral.parse(local), false).choose(port.build()).index();
  }

  private static int choose(TestPorts port, GidPolicy policy) throws PortRefusal {
    return choose(port, policy, LOOPBACK);
  }

  private static GidPolicy family(Family family) {
    return new GidPolicy(AUTO, 2, family, null);
  }

  private static GidPolicy range(String range) {
    return new GidPolicy(AUTO, 2, Family.AUTO, AddressRange.parse(range));
  }

  @Test
  void anEntryThatIsAskedForByItsIndexMayBeDoubted() {
    assertThat(doubt(0)).contains("RoCE v1 and not RoCE v2");
    assertThat(doubt(1)).contains("link-local");
    assertThat(doubt(5)).isEmpty();
  }

  private static Optional<String> doubt(int index) {
    PortInfo port = connectX().build();
    return new GidChooser(GidPolicy.DEFAULT.at(index), IpLiteral.parse(LOOPBACK), false)
        .doubt(port, port.gids().get(index));
  }

  @Test
  void theFirstIpv4AddressOfRoceV2IsTaken() throws Exception {
    assertThat(choose(connectX(), GidPolicy.DEFAULT)).isEqualTo(5);
  }

  @Test
  void theEntryOfTheLocalAddressIsPreferred() throws Exception {
    assertThat(choose(connectX(), GidPolicy.DEFAULT, "10.7.0.1")).isEqualTo(7);
    assertThat(choose(connectX(), GidPolicy.DEFAULT, "2001:db8::1")).isEqualTo(3);
  }

  @Test
  void ipv6IsTakenWhereThereIsNothingElse() throws Exception {
    TestPorts port =
        TestPorts.roce("mlx5_0").gid(0, "fe80::1", ROCE_V2).gid(1, "2001:db8::1", ROCE_V2);
    assertThat(choose(port, GidPolicy.DEFAULT)).isEqualTo(1);
  }

  @Test
  void theFamilyThatWasAskedForIsTaken() throws Exception {
    assertThat(choose(connectX(), family(Family.IPV6))).isEqualTo(3);
    assertThat(choose(connectX(), family(Family.IPV4), "2001:db8::1")).isEqualTo(5);
  }

  @Test
  void roceV1IsTakenWhenAskedFor() throws Exception {
    assertThat(choose(connectX(), new GidPolicy(AUTO, 1, Family.AUTO, null))).isEqualTo(4);
  }

  @Test
  void theAddressMustLieInTheRange() throws Exception {
    assertThat(choose(connectX(), range("10.7.0.0/16"))).isEqualTo(7);
    assertThat(choose(connectX(), range("2001:db8::/32"))).isEqualTo(3);
  }

  @Test
  void anEntryWhoseTypeCannotBeReadIsSkipped() throws Exception {
    TestPorts port =
        TestPorts.roce("mlx5_0").gid(0, "10.0.0.1", UNREADABLE).gid(3, "10.0.0.2", ROCE_V2);
    assertThat(choose(port, GidPolicy.DEFAULT, "10.0.0.1")).isEqualTo(3);
  }

  @Test
  void anIndexThatWasGivenWins() throws Exception {
    GidPolicy one = new GidPolicy(1, 1, Family.IPV4, AddressRange.parse("10.0.0.0/8"));
    assertThat(choose(connectX(), one, "10.7.0.1")).isEqualTo(1);
    TestPorts infiniBand =
        TestPorts.infiniBand("mlx5_0").gid(0, "fe80::1", IB).gid(1, "fec0::1", IB);
    assertThat(choose(infiniBand, one)).isEqualTo(1);
  }

  /** Not even the process's own address, which may exist twice, is a reason to take the entry. */
  @Test
  void anEntryOfAnotherNetworkNamespaceIsSkipped() throws Exception {
    TestPorts port =
        TestPorts.roce("mlx5_0").foreignGid(1, "10.0.0.1").gid(2, "2001:db8::1", ROCE_V2, "net1");
    assertThat(choose(port, GidPolicy.DEFAULT, "10.0.0.1")).isEqualTo(2);
    TestPorts foreign = TestPorts.roce("mlx5_0").foreignGid(1, "10.0.0.1");
    assertThatThrownBy(() -> choose(foreign, GidPolicy.DEFAULT, "10.0.0.1"))
        .isInstanceOf(PortRefusal.class)
        .hasMessage(
            "has no suitable GID: index 1 10.0.0.1 is of another network namespace:"
                + " no network device of this process has the address")
        .extracting(refusal -> ((PortRefusal) refusal).kind())
        .isEqualTo(Refusal.Kind.FOREIGN_GID);
  }

  @Test
  void anEntryOfAnotherNetworkNamespaceIsTakenAndDoubtedWhenAskedFor() throws Exception {
    InetAddress local = IpLiteral.parse("10.0.0.1");
    PortInfo port = TestPorts.roce("mlx5_0").foreignGid(1, "10.0.0.1").build();
    for (GidChooser chooser :
        List.of(
            new GidChooser(GidPolicy.DEFAULT.at(1), local, false),
            new GidChooser(GidPolicy.DEFAULT, local, true))) {
      GidEntry taken = chooser.choose(port);
      assertThat(taken.index()).isEqualTo(1);
      assertThat(chooser.isLocal(taken)).isFalse();
      assertThat(chooser.doubt(port, taken).orElseThrow()).startsWith("of another network");
    }
  }

  @Test
  void entriesOfThisNetworkNamespaceComeFirstWhereOthersMayBeTaken() throws Exception {
    PortInfo port =
        TestPorts.roce("mlx5_0")
            .foreignGid(1, "10.0.0.1")
            .gid(2, "2001:db8::1", ROCE_V2, "net1")
            .build();
    GidChooser chooser = new GidChooser(GidPolicy.DEFAULT, IpLiteral.parse("10.0.0.1"), true);
    assertThat(chooser.choose(port).index()).isEqualTo(2);
    assertThat(chooser.doubt(port, port.gids().getLast())).isEmpty();
  }

  @Test
  void anIndexThatHasNoGidIsRefused() {
    assertThatThrownBy(() -> choose(connectX(), new GidPolicy(8, 2, Family.AUTO, null), LOOPBACK))
        .isInstanceOf(PortRefusal.class)
        .hasMessage("has no GID at index 8")
        .extracting(refusal -> ((PortRefusal) refusal).kind())
        .isEqualTo(Refusal.Kind.NO_GID);
  }

  @Test
  void onInfiniBandTheDefaultGidIsTaken() throws Exception {
    TestPorts port = TestPorts.infiniBand("mlx5_0").gid(0, "fe80::1", IB).gid(1, "fec0::1", IB);
    assertThat(choose(port, GidPolicy.DEFAULT)).isZero();
  }

  @Test
  void onInfiniBandAGidWithAFabricIdentifierIsPreferred() throws Exception {
    TestPorts port = TestPorts.infiniBand("mlx5_0").gid(0, "fe80::1", IB).gid(1, "fec0:0:7::1", IB);
    assertThat(choose(port, GidPolicy.DEFAULT)).isEqualTo(1);
  }

  @Test
  void aRefusalHasAReasonForEachEntry() {
    TestPorts port =
        TestPorts.roce("mlx5_0")
            .gid(0, "fe80::1", ROCE_V2)
            .gid(1, "10.0.0.1", ROCE_V1)
            .gid(2, "10.0.0.2", UNREADABLE)
            .gid(3, "2001:db8::1", ROCE_V2)
            .gid(4, "10.0.0.3", ROCE_V2);
    GidPolicy policy = new GidPolicy(AUTO, 2, Family.IPV4, AddressRange.parse("10.9.0.0/16"));
    assertThatThrownBy(() -> choose(port, policy))
        .isInstanceOf(PortRefusal.class)
        .hasMessage(
            "has no suitable GID: index 0 fe80:0:0:0:0:0:0:1 is link-local,"
                + " index 1 10.0.0.1 is RoCE v1 and not RoCE v2,"
                + " index 2 10.0.0.2 is of a type that cannot be read and not RoCE v2,"
                + " index 3 2001:db8:0:0:0:0:0:1 is not IPV4,"
                + " index 4 10.0.0.3 is not in 10.9.0.0/16");
  }

  @Test
  void aPortWithoutAnyGidIsRefused() {
    assertThatThrownBy(() -> choose(TestPorts.roce("rxe0"), GidPolicy.DEFAULT))
        .isInstanceOf(PortRefusal.class)
        .hasMessage("has no GID, so its network device has no address")
        .extracting(refusal -> ((PortRefusal) refusal).kind())
        .isEqualTo(Refusal.Kind.NO_GID);
  }
}
