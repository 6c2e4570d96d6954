// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import static java.util.Objects.requireNonNull;

import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvSrq;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The server of rdma_cm (rdma_server): listens, creates a queue pair for the id of each request,
 * accepts it, and answers one message of each client. The clients may be rdma_client of
 * rdmacm-utils. {@link #main} or {@code bin/verbs} makes one, and uses it on one thread.
 *
 * <p>Arguments: {@code ADDRESS PORT}; the address must belong to an RDMA device.
 */
public final class CmServer implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final List<CmEndpoint> accepted = new ArrayList<>();
  private final RdmaCmId listening;
  private final Deadline deadline;

  /**
   * Listens.
   *
   * @param address address of this machine; the caller closes it
   */
  public CmServer(RdmaAddrInfo address, int backlog, Deadline deadline) throws IOException {
    this.deadline = deadline;
    listening = RdmaCmId.createEp(address, null, null);
    try {
      listening.listen(backlog);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  public static void main(String[] arguments) throws IOException {
    RdmaAddrInfo.Hints hints =
        new RdmaAddrInfo.Hints(RdmaAddrInfo.Flags.PASSIVE, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC);
    try (RdmaAddrInfo address = RdmaAddrInfo.get(arguments[0], arguments[1], hints);
        CmServer server = new CmServer(address, 1, Deadline.in(60))) {
      System.out.println("The client says: " + server.serve(1, false).getFirst());
    }
  }

  public InetSocketAddress address() {
    return requireNonNull(listening.localAddress());
  }

  /**
   * Accepts a number of clients, then answers each.
   *
   * @param shared true to receive from all clients through one shared receive queue
   * @return the clients' messages
   */
  public List<String> serve(int clients, boolean shared) throws IOException {
    IbvSrq srq = shared ? listening.createSrq(null, clients, 1) : null;
    for (int i = 0; i < clients; i++) {
      accept(srq);
    }
    List<String> messages = new ArrayList<>();
    for (CmEndpoint endpoint : accepted) {
      messages.add(endpoint.receive());
      endpoint.text("from the server.");
      endpoint.send();
      endpoint.id().disconnect();
    }
    return messages;
  }

  private void accept(@Nullable IbvSrq srq) throws IOException {
    RdmaCmId id =
        listening
            .getRequest(deadline.leftMs("a client"))
            .orElseThrow(() -> new IOException("no client connected in time"));
    try {
      CmEndpoint endpoint =
          new CmEndpoint(id, IbvQp.Type.RC, 1, CmClient.MESSAGE_BYTES, srq, arena, deadline);
      endpoint.postReceives(1);
      id.accept(RdmaConnParam.DEFAULT);
      accepted.add(endpoint);
    } catch (IOException e) {
      id.close();
      throw e;
    }
  }

  /** Closes the clients' ids first: they may use the listening id's shared receive queue. */
  @Override
  public void close() throws IOException {
    for (CmEndpoint endpoint : accepted) {
      endpoint.id().close();
    }
    listening.close();
    arena.close();
  }
}
