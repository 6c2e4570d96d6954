// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.ibv.IbvQp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The addresses that the options of rdma_cm commands lead to. */
@OnFakeAdapters
class CmOptionsTest {
  @Command
  private static final class Holder {
    @Mixin private CmOptions options;
  }

  private static CmOptions parse(String... arguments) throws Exception {
    FakeAdapters.reset();
    Holder holder = new Holder();
    new CommandLine(holder).parseArgs(arguments);
    return holder.options;
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UD"})
  void aClientUsesTheDeviceThatBindNames(IbvQp.Type type) throws Exception {
    try (RdmaAddrInfo server = parse("--bind", "10.0.0.1").resolve("10.0.0.2", type)) {
      assertThat(server.entries().getFirst().source().getAddress())
          .isEqualTo(IpLiteral.parse("10.0.0.1"));
    }
  }

  @Test
  void aClientWithoutBindLeavesTheDeviceToTheRoutingTable() throws Exception {
    try (RdmaAddrInfo server = parse().resolve("10.0.0.2", IbvQp.Type.RC)) {
      assertThat(server.entries().getFirst().source()).isNull();
    }
  }
}
