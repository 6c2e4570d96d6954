// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import static java.util.Objects.requireNonNull;

import dev.sluice.verbs.Gid;
import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.cm.RdmaUdParam;
import dev.sluice.verbs.ibv.IbvAh;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvGidEntry;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * A datagram service that clients find through rdma_cm, and its client (udaddy). The client sends
 * messages, and the service sends as many back. Either side may be udaddy of rdmacm-utils. {@link
 * #main} or {@code bin/verbs} makes one for its side, and uses it on one thread.
 *
 * <p>Arguments: {@code client SERVER PORT}, or {@code service ADDRESS PORT}; the address must
 * belong to an RDMA device.
 */
public final class Datagrams implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final RdmaEventChannel events = RdmaEventChannel.create();
  private final RdmaCmId id;
  private final int messages;
  private final int size;
  private final Deadline deadline;

  /**
   * Creates the id.
   *
   * @param address address of the service; has the flag PASSIVE on the service itself. The caller
   *     closes it
   * @param messages number of messages in each direction
   * @param size bytes of a message
   */
  public Datagrams(RdmaAddrInfo address, int messages, int size, Deadline deadline)
      throws IOException {
    this.messages = messages;
    this.size = size;
    this.deadline = deadline;
    try {
      id = RdmaCmId.createEp(address, null, null);
      try {
        id.migrate(events); // the channel closes the id
      } catch (IOException e) {
        id.close();
        throw e;
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  public static void main(String[] arguments) throws IOException {
    boolean serves = arguments[0].equals("service");
    RdmaAddrInfo.Hints hints =
        new RdmaAddrInfo.Hints(
            serves ? RdmaAddrInfo.Flags.PASSIVE : 0, RdmaCmId.PortSpace.UDP, IbvQp.Type.UD);
    try (RdmaAddrInfo address = RdmaAddrInfo.get(arguments[1], arguments[2], hints);
        Datagrams datagrams = new Datagrams(address, 10, 100, Deadline.in(60))) {
      if (serves) {
        datagrams.listen();
        datagrams.serve();
      } else {
        datagrams.ask();
      }
    }
  }

  /** Runs the client: sends its messages and receives the answers. */
  public void ask() throws IOException {
    CmEndpoint endpoint = endpoint(id);
    id.connect(RdmaConnParam.DEFAULT);
    RdmaUdParam service =
        CmEndpoint.await(events, RdmaCmEvent.Type.ESTABLISHED, deadline).udParam();
    send(endpoint, id.pd().createAh(requireNonNull(service.ahAttr())), service);
    receive(endpoint);
  }

  /** Listens and returns the local address. */
  public InetSocketAddress listen() throws IOException {
    id.listen(1);
    return requireNonNull(id.localAddress());
  }

  /** Runs the service: receives one client's messages and answers them. */
  public void serve() throws IOException {
    RdmaCmId request = CmEndpoint.await(events, RdmaCmEvent.Type.CONNECT_REQUEST, deadline).id();
    CmEndpoint endpoint = endpoint(request);
    int qpNum = requireNonNull(request.qp()).qpNum();
    request.accept(RdmaConnParam.DEFAULT.with(p -> p.qpNum = qpNum));
    receive(endpoint);
    RdmaUdParam client =
        new RdmaUdParam(new byte[0], null, endpoint.senderQpNum(), RdmaUdParam.UDP_QKEY);
    send(endpoint, clientAddress(request), client);
  }

  private CmEndpoint endpoint(RdmaCmId of) throws IOException {
    CmEndpoint endpoint = new CmEndpoint(of, IbvQp.Type.UD, messages, size, null, arena, deadline);
    endpoint.postReceives(messages);
    return endpoint;
  }

  /** Derives the client's address vector from its IP address, as RoCE v2 derives the GID. */
  private static IbvAh clientAddress(RdmaCmId id) throws IOException {
    int gidIndex = gidIndex(id);
    return id.pd()
        .createAh(
            IbvAhAttr.ZERO.with(
                ah -> {
                  ah.global = true;
                  ah.dgid = Gid.of(requireNonNull(id.peerAddress()).getAddress());
                  ah.sgidIndex = gidIndex;
                  ah.hopLimit = 64;
                  ah.port = id.portNum();
                }));
  }

  private static int gidIndex(RdmaCmId id) throws IOException {
    Gid local = Gid.of(requireNonNull(id.localAddress()).getAddress());
    int entries = id.context().queryPort(id.portNum()).gidTblLen();
    for (int i = 0; i < entries; i++) {
      Optional<IbvGidEntry> entry = id.context().queryGidEntry(id.portNum(), i);
      if (entry.filter(e -> e.type().is(IbvGidEntry.Type.ROCE_V2)).isPresent()
          && entry.get().gid().equals(local)) {
        return i;
      }
    }
    throw new IOException("no RoCE v2 GID has the address " + local);
  }

  private void send(CmEndpoint endpoint, IbvAh ah, RdmaUdParam to) throws IOException {
    for (int i = 0; i < messages; i++) {
      endpoint.send(ah, to);
    }
  }

  private void receive(CmEndpoint endpoint) throws IOException {
    for (int i = 0; i < messages; i++) {
      endpoint.receive();
    }
  }

  /** Closes the ids and all objects of their device. */
  @Override
  public void close() throws IOException {
    events.close();
    arena.close();
  }
}
