package dev.sluice.rdma.transfer;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.VerbsException;

/** One process's presence on the fabric: device, protection domain, buffers, connections, reads. */
public final class RdmaEndpoint implements AutoCloseable {
  /** Takes over {@code device}, which {@link #close} closes. */
  public static RdmaEndpoint open(
      Device device, TransferOptions options, QueuePairConnector connector) throws VerbsException {
    throw new UnsupportedOperationException();
  }

  public Device device() {
    throw new UnsupportedOperationException();
  }

  public ProtectionDomain protectionDomain() {
    throw new UnsupportedOperationException();
  }

  public BufferPool buffers() {
    throw new UnsupportedOperationException();
  }

  /** Submits a read; its listener gets exactly one answer. Any thread, never blocks. */
  public void read(ReadRequest request) {
    throw new UnsupportedOperationException();
  }

  /**
   * Serving side: gives a peer a queue pair connected to {@code remote}, through which it may READ.
   *
   * @throws VerbsException ENOMEM when the limit of queue pairs is reached and none is idle
   */
  public QueuePairAddress accept(String peerId, QueuePairAddress remote) throws VerbsException {
    throw new UnsupportedOperationException();
  }

  /** Closes what was accepted from the peer and is connected to {@code remoteQpNumber}. */
  public void disconnected(String peerId, int remoteQpNumber) {
    throw new UnsupportedOperationException();
  }

  /** The peer is gone: closes its queue pairs; reads from it fail at once. */
  public void peerLost(String peerId) {
    throw new UnsupportedOperationException();
  }

  public TransferCounters counters() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
