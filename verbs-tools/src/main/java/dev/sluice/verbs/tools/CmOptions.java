// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Options of commands whose two sides connect through rdma_cm: {@link CmClientCommand}, {@link
 * CmServerCommand}, {@link MckeyCommand}, {@link UdaddyCommand}. The default ports are those of C.
 */
final class CmOptions {
  @Mixin private Deadline deadline;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Port of the server (default: 7471 for connections, 7174 for datagrams)")
  private @Nullable Integer port;

  @Option(
      names = {"-b", "--bind"},
      paramLabel = "ADDRESS",
      description = "Address of the RDMA device to use (default: chosen by the routing table)")
  private @Nullable String bind;

  Deadline deadline() {
    return deadline;
  }

  @Nullable String bind() {
    return bind;
  }

  /**
   * Resolves the server's address; the caller closes it. With --bind, a client connects from there.
   *
   * @param server null on the server itself
   */
  RdmaAddrInfo resolve(@Nullable String server, IbvQp.Type type) throws IOException {
    boolean datagrams = type == IbvQp.Type.UD;
    int number = port != null ? port : datagrams ? 7174 : 7471;
    return RdmaAddrInfo.get(
        server == null ? bind : server,
        String.valueOf(number),
        new RdmaAddrInfo.Hints(
            server == null ? RdmaAddrInfo.Flags.PASSIVE : 0,
            datagrams ? RdmaCmId.PortSpace.UDP : RdmaCmId.PortSpace.TCP,
            type,
            null,
            server == null || bind == null ? null : new InetSocketAddress(bind, 0)));
  }
}
