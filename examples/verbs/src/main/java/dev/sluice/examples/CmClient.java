// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import dev.sluice.verbs.cm.RdmaAddrInfo;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.ibv.IbvQp;
import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * The client of rdma_cm (rdma_client): resolves the server's name, creates an id with a queue pair,
 * connects, sends a message and receives the answer. The server may be rdma_server of rdmacm-utils.
 * {@link #main} or {@code bin/verbs} runs it on one thread.
 *
 * <p>Arguments: {@code SERVER PORT}.
 */
public final class CmClient {
  static final int MESSAGE_BYTES = 16;

  private CmClient() {}

  public static void main(String[] arguments) throws IOException {
    RdmaAddrInfo.Hints hints = new RdmaAddrInfo.Hints(0, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC);
    try (RdmaAddrInfo server = RdmaAddrInfo.get(arguments[0], arguments[1], hints)) {
      System.out.println("The server says: " + run(server, Deadline.in(60)));
    }
  }

  /** Runs the client and returns the server's answer. */
  public static String run(RdmaAddrInfo server, Deadline deadline) throws IOException {
    try (Arena arena = Arena.ofShared();
        RdmaCmId id = RdmaCmId.createEp(server, null, null)) { // resolves address and route
      CmEndpoint endpoint =
          new CmEndpoint(id, IbvQp.Type.RC, 1, MESSAGE_BYTES, null, arena, deadline);
      endpoint.postReceives(1);
      id.connect(RdmaConnParam.DEFAULT);
      endpoint.text("from the client.");
      endpoint.send();
      String answer = endpoint.receive();
      id.disconnect();
      return answer;
    } // closes the id and all objects of its device
  }
}
