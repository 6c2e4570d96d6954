// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.CmEndpoint;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvSendWrList;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The server of rping. It READs the memory that its client offers, and WRITEs the data to other
 * memory of the client, until the client disconnects. {@link RpingCommand} runs it once, for one
 * client, on one thread, which opens and closes the event channel and the memory.
 */
record RpingServer(RpingCommand options, Deadline deadline, PrintWriter out) {
  void run(InetSocketAddress address) throws IOException {
    try (Arena arena = Arena.ofShared();
        RdmaEventChannel events = RdmaEventChannel.create()) {
      RdmaCmId listening = events.createId(RdmaCmId.PortSpace.TCP);
      listening.setReuseAddress(true);
      listening.bind(address);
      listening.listen(1);
      RdmaCmId client = CmEndpoint.await(events, RdmaCmEvent.Type.CONNECT_REQUEST, deadline).id();
      RpingConnection connection = new RpingConnection(events, client, arena, deadline);
      client.accept(RpingConnection.PARAM);
      CmEndpoint.await(events, RdmaCmEvent.Type.ESTABLISHED, deadline);
      serve(connection, arena);
      client.disconnect();
    }
  }

  private void serve(RpingConnection connection, Arena arena) throws IOException {
    MemorySegment data = arena.allocate(RpingCommand.MAX_SIZE);
    IbvMr region = connection.register(data);
    int pings = 0;
    Optional<RpingAdvertisement> source = connection.receive();
    while (source.isPresent()) {
      int size = source.get().size();
      if (size <= 0 || size > RpingCommand.MAX_SIZE) {
        throw new IOException("the client offers " + size + " bytes; 1 to 65536 are allowed");
      }
      connection.transfer(IbvSendWrList.Opcode.RDMA_READ, region, source.get(), size);
      options.display("server ping data: ", data, size, out);
      connection.send(RpingAdvertisement.GO_AHEAD);
      RpingAdvertisement sink =
          connection
              .receive()
              .orElseThrow(() -> new IOException("the client disconnected during a ping"));
      connection.transfer(
          IbvSendWrList.Opcode.RDMA_WRITE, region, sink, Math.min(size, sink.size()));
      connection.send(RpingAdvertisement.GO_AHEAD);
      pings++;
      source = connection.receive();
    }
    out.println("served " + pings + " pings");
  }
}
