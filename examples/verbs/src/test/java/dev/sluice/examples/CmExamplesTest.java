// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The rdma_cm programs run on a device, both sides in this process. */
@NeedsRdmaDevice
final class CmExamplesTest {
  private final InetAddress device = RdmaDevices.address().orElseThrow();
  private final Deadline deadline = Deadline.in(60);

  @Test
  void clientAndServerExchangeAMessage() throws Exception {
    try (RdmaAddrInfo own = resolve(RdmaAddrInfo.Flags.PASSIVE, 0, IbvQp.Type.RC);
        CmServer server = new CmServer(own, 1, deadline)) {
      FutureTask<List<String>> serving = started(new FutureTask<>(() -> server.serve(1, false)));
      try (RdmaAddrInfo address = resolve(0, server.address().getPort(), IbvQp.Type.RC)) {
        assertThat(CmClient.run(address, deadline)).isEqualTo("from the server.");
      }
      assertThat(serving.get(60, TimeUnit.SECONDS)).containsExactly("from the client.");
    }
  }

  @Test
  void aDatagramReachesTheOtherMemberOfTheGroup() throws Exception {
    try (Multicast receiver = member();
        Multicast sender = member()) {
      sender.send("to all");
      assertThat(receiver.receive()).startsWith("to all").hasSize(100);
    }
  }

  @Test
  void aDatagramServiceAnswersItsClient() throws Exception {
    try (RdmaAddrInfo own = resolve(RdmaAddrInfo.Flags.PASSIVE, 0, IbvQp.Type.UD);
        Datagrams service = new Datagrams(own, 3, 50, deadline)) {
      int port = service.listen().getPort();
      FutureTask<Void> serving =
          started(
              new FutureTask<>(
                  () -> {
                    service.serve();
                    return null;
                  }));
      try (RdmaAddrInfo address = resolve(0, port, IbvQp.Type.UD);
          Datagrams client = new Datagrams(address, 3, 50, deadline)) {
        client.ask();
      }
      serving.get(60, TimeUnit.SECONDS);
    }
  }

  private Multicast member() throws IOException {
    InetAddress group = IpLiteral.parse("239.1.2.8");
    return new Multicast(device, group, RdmaCmId.JoinFlags.FULLMEMBER, 1, 100, deadline);
  }

  private RdmaAddrInfo resolve(int flags, int port, IbvQp.Type type) throws IOException {
    RdmaCmId.PortSpace space =
        type == IbvQp.Type.UD ? RdmaCmId.PortSpace.UDP : RdmaCmId.PortSpace.TCP;
    return RdmaAddrInfo.get(
        device.getHostAddress(), "" + port, new RdmaAddrInfo.Hints(flags, space, type));
  }

  private static <T> FutureTask<T> started(FutureTask<T> task) {
    Thread.ofPlatform().daemon().start(task);
    return task;
  }
}
