package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.cm.RdmaCmEventType;
import dev.sluice.rdma.verbs.cm.RdmaCmId;
import dev.sluice.rdma.verbs.cm.RdmaEventChannel;
import dev.sluice.rdma.verbs.cm.RdmaPortSpace;
import dev.sluice.rdma.verbs.ibv.IbvMr;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The server of an rping: for one client, READs what it offers and WRITEs it where the client wants
 * it back, until the client disconnects. Used once, by one thread.
 */
record RpingServer(RpingCommand options, Deadline deadline, PrintWriter out) {
  void run(InetSocketAddress address) throws IOException {
    try (Arena arena = Arena.ofShared();
        RdmaEventChannel events = RdmaEventChannel.create()) {
      RdmaCmId listening = events.createId(RdmaPortSpace.TCP);
      listening.setReuseAddress(true);
      listening.bind(address);
      listening.listen(1);
      RdmaCmId client =
          RpingConnection.await(events, RdmaCmEventType.CONNECT_REQUEST, deadline).id();
      RpingConnection connection = new RpingConnection(events, client, arena, deadline);
      client.accept(RpingConnection.PARAM);
      RpingConnection.await(events, RdmaCmEventType.ESTABLISHED, deadline);
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
        throw new IOException("the client offers " + size + " bytes, at most 65536 can be taken");
      }
      connection.transfer(IbvWrOpcode.RDMA_READ, region, source.get(), size);
      options.display("server ping data: ", data, size, out);
      connection.send(RpingAdvertisement.GO_AHEAD);
      RpingAdvertisement sink =
          connection.receive().orElseThrow(() -> new IOException("the client left in mid-ping"));
      connection.transfer(IbvWrOpcode.RDMA_WRITE, region, sink, Math.min(size, sink.size()));
      connection.send(RpingAdvertisement.GO_AHEAD);
      pings++;
      source = connection.receive();
    }
    out.println("served " + pings + " pings");
  }
}
