package dev.sluice.blocks.server;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.util.concurrent.CompletableFuture;

/** Lets the block server give out queue pairs of its process's RDMA endpoint. */
public record EndpointAcceptor(RdmaEndpoint endpoint) implements QueuePairAcceptor {
  @Override
  public CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote) {
    return endpoint.accept(peerId, remote);
  }

  @Override
  public void disconnected(String peerId, int remoteQpNumber) {
    endpoint.disconnected(peerId, remoteQpNumber);
  }

  @Override
  public void peerLeft(String peerId) {
    endpoint.peerLeft(peerId);
  }
}
