// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.QueuePairAcceptor;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** Accepts queue pairs by number: each peer's gets the next higher one; 0xbad is refused. */
public final class FakeAcceptor implements QueuePairAcceptor {
  public static final int REFUSED_QP = 0xbad;
  public final List<String> events = new CopyOnWriteArrayList<>();

  /** Peers that sent a message over a new connection. */
  final List<String> returned = new CopyOnWriteArrayList<>();

  /** Accepted queue pairs are connected once this completes. */
  CompletableFuture<Void> connected = CompletableFuture.completedFuture(null);

  /** Runs while a peer leaves. */
  Runnable leaving = () -> {};

  public static QueuePairAddress queuePair(int qpNumber) {
    return new QueuePairAddress(qpNumber, 1, 0, new Gid(0, 0), 4096, 16, new byte[] {42});
  }

  @Override
  public CompletableFuture<QueuePairAddress> accept(String peerId, QueuePairAddress remote) {
    if (remote.qpNumber() == REFUSED_QP) {
      return CompletableFuture.failedFuture(
          new VerbsException("ibv_create_qp", VerbsException.ENOMEM, "no queue pair is idle"));
    }
    events.add("accepted " + peerId + " " + remote.qpNumber());
    return connected.thenApply(_ -> queuePair(remote.qpNumber() + 1));
  }

  @Override
  public void disconnected(String peerId, int remoteQpNumber) {
    events.add("disconnected " + peerId + " " + remoteQpNumber);
  }

  @Override
  public void peerLeft(String peerId) {
    leaving.run();
    events.add("left " + peerId);
  }

  @Override
  public void peerReturned(String peerId) {
    returned.add(peerId);
  }
}
