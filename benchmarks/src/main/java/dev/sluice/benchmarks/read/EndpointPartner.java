package dev.sluice.benchmarks.read;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.util.List;

/** READs through the transfer engine, as a {@link RequestLoad}. */
record EndpointPartner(RdmaEndpoint endpoint, Peer peer) implements Partner {
  @Override
  public String name() {
    return "endpoint";
  }

  @Override
  public long measure(Workload workload, int count) throws IOException, InterruptedException {
    try (RequestLoad load = new RequestLoad(endpoint, workload.inFlight(), workload.bytes())) {
      return load.measure(count, i -> place(workload, i));
    }
  }

  private RequestLoad.Place place(Workload workload, int request) {
    RemoteRegion memory = peer.memory();
    long offset = workload.offset(request, memory.length());
    RemoteRegion range =
        new RemoteRegion(memory.address() + offset, workload.bytes(), memory.rkey());
    return new RequestLoad.Place(peer.address(), List.of(range));
  }

  /** The endpoint is its maker's. */
  @Override
  public void close() {}
}
