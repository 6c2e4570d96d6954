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

/** The addresses that the options of rdma_cm commands lead to. */
@OnFakeAdapters
class CmCommandTest {
  private static final String SERVER = "10.0.0.2";

  private static CmCommand.Client parse(String... arguments) throws Exception {
    FakeAdapters.reset();
    CmCommand.Client client = new CmCommand.Client();
    new CommandLine(client).parseArgs(arguments);
    return client;
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UD"})
  void aClientUsesTheDeviceThatBindNames(IbvQp.Type type) throws Exception {
    try (RdmaAddrInfo server = parse("--bind", "10.0.0.1", SERVER).resolve(SERVER, type)) {
      assertThat(server.entries().getFirst().source().getAddress())
          .isEqualTo(IpLiteral.parse("10.0.0.1"));
    }
  }

  @Test
  void aClientWithoutBindLeavesTheDeviceToTheRoutingTable() throws Exception {
    try (RdmaAddrInfo server = parse(SERVER).resolve(SERVER, IbvQp.Type.RC)) {
      assertThat(server.entries().getFirst().source()).isNull();
    }
  }
}
