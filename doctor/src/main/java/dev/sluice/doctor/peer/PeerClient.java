// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * Client of {@link PeerServer}s. {@link PeerReader} has one; one connection per question. The
 * transfer engine calls {@link #exchange} and {@link #released}, which must not block and use
 * virtual threads. Other methods block on the reader's thread.
 */
final class PeerClient implements QueuePairConnector {
  /** Limit of a connection; an answer may take twice as long, as the server's queue pair may. */
  private static final int TIMEOUT_MS = 5_000;

  /** Name by which servers tell their readers apart. */
  private final String self = UUID.randomUUID().toString();

  /** MTU of the peer's port in bytes; 0 before there is a queue pair. */
  private volatile int remoteMtu;

  /** MTU of the port here in bytes; 0 before there is a queue pair. */
  private volatile int localMtu;

  @FunctionalInterface
  private interface Conversation<T> {
    T with(DataOutputStream out, DataInputStream in) throws IOException;
  }

  Description describe(PeerAddress peer) throws IOException {
    return ask(peer, Question.DESCRIBE, (_, in) -> Description.read(in));
  }

  /** Returns true if a datagram arrived at the peer. */
  boolean heard(PeerAddress peer, long id) throws IOException {
    return ask(
        peer,
        Question.HEARD,
        (out, in) -> {
          out.writeLong(id);
          return in.readBoolean();
        });
  }

  @Override
  public CompletableFuture<QueuePairAddress> exchange(
      PeerAddress peer, String providerName, QueuePairAddress local) {
    CompletableFuture<QueuePairAddress> remote = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                remote.complete(connect(peer, local));
              } catch (IOException | RuntimeException e) {
                remote.completeExceptionally(e);
              }
            });
    return remote;
  }

  @Override
  public void released(PeerAddress peer, int localQpNumber) {
    Thread.ofVirtual().start(() -> tellReleased(peer, localQpNumber));
  }

  private void tellReleased(PeerAddress peer, int localQpNumber) {
    try {
      ask(
          peer,
          Question.RELEASED,
          (out, _) -> {
            out.writeUTF(self);
            out.writeInt(localQpNumber);
            return true;
          });
    } catch (IOException e) {
      // The peer is gone, or keeps the queue pair until it ends.
    }
  }

  private QueuePairAddress connect(PeerAddress peer, QueuePairAddress local) throws IOException {
    QueuePairAddress remote =
        ask(
            peer,
            Question.CONNECT,
            (out, in) -> {
              out.writeUTF(self);
              Addresses.write(out, local);
              String refusal = in.readUTF();
              if (!refusal.isEmpty()) {
                throw new IOException(refusal);
              }
              return Addresses.read(in);
            });
    localMtu = local.mtu();
    remoteMtu = remote.mtu();
    return remote;
  }

  int localMtu() {
    return localMtu;
  }

  int remoteMtu() {
    return remoteMtu;
  }

  private static <T> T ask(PeerAddress peer, Question question, Conversation<T> conversation)
      throws IOException {
    try (Socket socket = new Socket()) {
      socket.setSoTimeout(2 * TIMEOUT_MS);
      socket.connect(new InetSocketAddress(peer.host(), peer.port()), TIMEOUT_MS);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      question.write(out);
      return conversation.with(out, new DataInputStream(socket.getInputStream()));
    }
  }
}
