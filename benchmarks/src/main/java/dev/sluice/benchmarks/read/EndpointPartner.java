package dev.sluice.benchmarks.read;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** READs through the transfer engine, as a {@link RequestLoad}. */
final class EndpointPartner implements Partner, QueuePairConnector {
  private final PeerProcess peer;
  private final PeerAddress address = new PeerAddress("peer", "localhost", 0);
  private final RdmaEndpoint endpoint;
  private final RemoteRegion memory;

  EndpointPartner(PeerProcess peer, RemoteRegion memory) throws IOException {
    this.peer = peer;
    this.memory = memory;
    endpoint = RdmaEndpoint.open(Fabric.openDevice(), Fabric.TRANSFER_OPTIONS, this);
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress ignored, String providerName, QueuePairAddress local) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return peer.connect(ControlMessages.ENDPOINT, local);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

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
    long offset = workload.offset(request, memory.length());
    RemoteRegion range =
        new RemoteRegion(memory.address() + offset, workload.bytes(), memory.rkey());
    return new RequestLoad.Place(address, List.of(range));
  }

  @Override
  public void close() {
    endpoint.close();
  }
}
