// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.util.Objects.requireNonNull;

import dev.sluice.examples.CmClient;
import dev.sluice.examples.CmServer;
import dev.sluice.examples.Datagrams;
import dev.sluice.examples.Multicast;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A command that runs a program of the examples, whose two sides connect through rdma_cm. The
 * nested classes are the commands; {@link ToolCommand.Timed} runs each on a daemon thread. The
 * default ports are those of C.
 */
abstract class CmCommand extends ToolCommand.Timed {
  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Port of the server (default: 7471 for connections, 7174 for datagrams)")
  private @Nullable Integer port;

  @Option(
      names = {"-b", "--bind"},
      paramLabel = "ADDRESS",
      description = "Address of the RDMA device to use (default: chosen by the routing table)")
  @Nullable String bind;

  /**
   * Resolves the server's address; the caller closes it. With --bind, a client connects from there.
   *
   * @param server null on the server itself
   */
  final RdmaAddrInfo resolve(@Nullable String server, IbvQp.Type type) throws IOException {
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

  /**
   * The command {@code bin/verbs client}: sends a message and receives one, as rdma_client does.
   */
  @Command(
      name = "client",
      description =
          "Connects by rdma_cm to verbs server or to rdma_server of rdmacm-utils, sends 16 bytes"
              + " and receives 16.")
  static final class Client extends CmCommand {
    @Parameters(paramLabel = "SERVER", description = "Host of the server")
    private String server;

    @Override
    void run() throws IOException {
      try (RdmaAddrInfo address = resolve(server, IbvQp.Type.RC)) {
        String answer = CmClient.run(address, this);
        out().println("received " + answer.length() + " bytes");
      }
    }
  }

  /**
   * The command {@code bin/verbs server}: answers a message of each client, as rdma_server does for
   * one. A shared receive queue needs a device before the first client connects: that of --bind.
   */
  @Command(
      name = "server",
      description =
          "Accepts verbs client or rdma_client of rdmacm-utils by rdma_cm, receives 16 bytes and"
              + " sends 16.")
  static final class Server extends CmCommand {
    @Option(
        names = {"-n", "--clients"},
        paramLabel = "CLIENTS",
        description = "Clients to accept before the first is answered (default: ${DEFAULT-VALUE})")
    private int clients = 1;

    @Option(names = "--srq", description = "Receive from all clients by one shared receive queue")
    private boolean shared;

    @Override
    void run() throws IOException {
      require(
          clients >= 1 && (!shared || bind != null),
          "--clients must be positive, and --srq needs --bind");
      try (RdmaAddrInfo address = resolve(null, IbvQp.Type.RC);
          CmServer server = new CmServer(address, clients, this)) {
        out().println("listening at " + server.address());
        for (String message : server.serve(clients, shared)) {
          out().println("received " + message.length() + " bytes");
        }
      }
    }
  }

  /** A command that exchanges datagrams. It calls {@link #checkMessages} first. */
  abstract static class DatagramCommand extends CmCommand {
    @Option(
        names = {"-C", "--count"},
        paramLabel = "MESSAGES",
        description = "Messages, the same on both sides (default: ${DEFAULT-VALUE})")
    int count = 10;

    @Option(
        names = {"-S", "--size"},
        paramLabel = "BYTES",
        description = "Bytes of a message, the same on both sides (default: ${DEFAULT-VALUE})")
    int size = 100;

    final void checkMessages() {
      require(count >= 1 && size >= 1, "--count and --size must be positive");
    }
  }

  /** The command {@code bin/verbs mckey}: sends to a multicast group or receives, as mckey does. */
  @Command(
      name = "mckey",
      description =
          "Joins a multicast group by rdma_cm and receives messages, or sends them with --sender."
              + " The other side may be mckey of rdmacm-utils.")
  static final class Mckey extends DatagramCommand {
    @Parameters(paramLabel = "GROUP", description = "Multicast address, such as 239.1.2.3")
    private String group;

    @Option(
        names = {"-s", "--sender"},
        description = "Send (default: receive)")
    private boolean sender;

    @Option(
        names = {"-o", "--send-only"},
        description = "Join as a member that only sends")
    private boolean sendOnly;

    @Override
    void run() throws IOException {
      checkMessages();
      try (Multicast member =
          new Multicast(
              bind == null ? null : InetAddress.getByName(bind),
              InetAddress.getByName(group),
              sendOnly ? RdmaCmId.JoinFlags.SENDONLY_FULLMEMBER : RdmaCmId.JoinFlags.FULLMEMBER,
              count,
              size,
              this)) {
        out().println("joined " + requireNonNull(member.group().ahAttr()).dgid());
        for (int i = 0; i < count; i++) {
          if (sender) {
            member.send("");
          } else {
            member.receive();
          }
        }
        out().println((sender ? "sent " : "received ") + count + " messages");
      }
    }
  }

  /** The command {@code bin/verbs udaddy}: exchanges datagrams by rdma_cm, as udaddy does. */
  @Command(
      name = "udaddy",
      description =
          "Finds a datagram service by rdma_cm, sends messages to it and receives as many. Either"
              + " side may be udaddy of rdmacm-utils.")
  static final class Udaddy extends DatagramCommand {
    @Parameters(
        arity = "0..1",
        paramLabel = "SERVER",
        description = "Host of the service; if it is absent, run as the service of one client")
    private @Nullable String server;

    @Override
    void run() throws IOException {
      checkMessages();
      try (RdmaAddrInfo address = resolve(server, IbvQp.Type.UD);
          Datagrams datagrams = new Datagrams(address, count, size, this)) {
        if (server == null) {
          out().println("listening at " + datagrams.listen());
          datagrams.serve();
        } else {
          datagrams.ask();
        }
        out().println("sent and received " + count + " messages");
      }
    }
  }
}
