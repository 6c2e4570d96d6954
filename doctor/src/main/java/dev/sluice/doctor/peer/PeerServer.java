// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import static java.util.Objects.requireNonNull;

import dev.sluice.doctor.check.CheckContext;
import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.transfer.QueuePairConnector;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets doctors of other nodes READ from this one. Any client that asks by TCP gets a queue pair.
 * With it the client may READ {@link #BYTES} that are the same everywhere, and nothing else. The
 * opener of a server, {@code CommandLine} or {@code ExecutorMeshNode}, closes it. The thread {@code
 * doctor-peer} accepts connections, and each question under way has a virtual thread.
 */
public final class PeerServer implements AutoCloseable {
  /** Size of the memory that may be READ, a multiple of the largest READ. */
  static final int BYTES = 8 << 20;

  /** Limit of a client's silence, and of the connection of a queue pair. */
  private static final int QUESTION_TIMEOUT_MS = 10_000;

  /** Pause after a connection could not be accepted. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final QueuePairConnector READS_NOTHING =
      (peer, _, _) ->
          CompletableFuture.failedFuture(
              new IOException("the server of a doctor does not READ from " + peer));

  private final ServerSocket socket;
  private final RdmaEndpoint endpoint;
  private final MemorySegment memory = Arena.ofAuto().allocate(BYTES, 4096);
  private final MemoryRegion region;
  private final Echo echo;

  private final LinkRate rate;

  private PeerServer(ServerSocket socket, RdmaEndpoint endpoint, LinkRate rate) throws IOException {
    this.socket = socket;
    this.endpoint = endpoint;
    this.rate = rate;
    Reading.fill(memory);
    region = endpoint.protectionDomain().register(memory, EnumSet.of(AccessFlag.REMOTE_READ));
    echo = new Echo(endpoint.device());
    Thread.ofPlatform().daemon().name("doctor-peer").start(this::listen);
  }

  /**
   * @param port port to listen on; 0 for a free one
   * @throws BindException if that port is not free
   */
  public static PeerServer open(CheckContext context, int port) throws IOException {
    ServerSocket socket = new ServerSocket(port); // first, as it fails most easily
    try {
      return open(context, socket);
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  static PeerServer open(CheckContext context, ServerSocket socket) throws IOException {
    RdmaEndpoint endpoint =
        RdmaEndpoint.open(context.open(), Reading.options(context), READS_NOTHING);
    try {
      return new PeerServer(socket, endpoint, LinkRate.of(context.root(), endpoint.device()));
    } catch (IOException | RuntimeException e) {
      endpoint.close();
      throw e;
    }
  }

  public int port() {
    return socket.getLocalPort();
  }

  /** Returns provider and device, in words. */
  public String device() {
    return endpoint.device().providerName() + " " + endpoint.device().name();
  }

  private void listen() {
    boolean said = false;
    while (!socket.isClosed()) {
      try {
        Socket client = socket.accept();
        said = false;
        Thread.ofVirtual().start(() -> answer(client));
      } catch (IOException e) {
        // Most likely out of file descriptors: an immediate retry would be a busy loop.
        if (!said && !socket.isClosed()) {
          System.err.printf("port %d: cannot accept connections; trying again: %s%n", port(), e);
          said = true;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private void answer(Socket client) {
    try (client;
        DataInputStream in = new DataInputStream(client.getInputStream());
        DataOutputStream out = new DataOutputStream(client.getOutputStream())) {
      client.setSoTimeout(QUESTION_TIMEOUT_MS);
      switch (Question.read(in)) {
        case DESCRIBE -> description().write(out);
        case CONNECT -> connect(in.readUTF(), Addresses.read(in), out);
        case HEARD -> out.writeBoolean(echo.heard(in.readLong()));
        case RELEASED -> endpoint.disconnected(in.readUTF(), in.readInt());
      }
    } catch (IOException e) {
      // The client sees that its answer does not come. A stranger gets none.
    }
  }

  private Description description() {
    return new Description(
        endpoint.device().providerName(),
        endpoint.device().name(),
        endpoint.device().gid(),
        echo.port(),
        region.toRemote(),
        rate);
  }

  /** Answers with an empty text and a queue pair, or with the reason why there is none. */
  private void connect(String peer, QueuePairAddress remote, DataOutputStream out)
      throws IOException {
    QueuePairAddress accepted;
    try {
      accepted = accept(peer, remote);
    } catch (IOException e) {
      out.writeUTF(e.getMessage());
      return;
    }
    out.writeUTF("");
    Addresses.write(out, accepted);
  }

  private QueuePairAddress accept(String peer, QueuePairAddress remote) throws IOException {
    try {
      return endpoint.accept(peer, remote).get(QUESTION_TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException(
          "the peer could not connect a queue pair: " + requireNonNull(e.getCause()).getMessage(),
          e);
    } catch (TimeoutException e) {
      throw new IOException("the peer did not connect a queue pair in time", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
    echo.close();
    region.close();
    endpoint.close();
  }
}
