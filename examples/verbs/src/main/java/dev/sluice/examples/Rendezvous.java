// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The TCP connection over which both sides of a program exchange addresses (sock_connect). {@link
 * RcExample#main} and commands of {@code bin/verbs} open it; their one thread uses and closes it.
 */
public final class Rendezvous implements AutoCloseable {
  private final Socket socket;
  private final DataInputStream in;
  private final Deadline deadline;

  private Rendezvous(Socket socket, Deadline deadline) throws IOException {
    this.socket = socket;
    this.deadline = deadline;
    in = new DataInputStream(socket.getInputStream());
    socket.setTcpNoDelay(true);
  }

  /**
   * Connects to the server, or waits for clients.
   *
   * @param server null to be the server
   * @param clients number of clients that the server waits for
   */
  public static List<Rendezvous> open(
      @Nullable String server, int port, int clients, Deadline deadline) throws IOException {
    return server == null
        ? accept(port, clients, deadline)
        : List.of(connect(server, port, deadline));
  }

  private static List<Rendezvous> accept(int port, int clients, Deadline deadline)
      throws IOException {
    List<Rendezvous> accepted = new ArrayList<>();
    try (ServerSocket listening = new ServerSocket()) {
      listening.setReuseAddress(true);
      bind(listening, port);
      while (accepted.size() < clients) {
        listening.setSoTimeout(deadline.leftMs("a connection to port " + port));
        accepted.add(new Rendezvous(listening.accept(), deadline));
      }
      return accepted;
    } catch (IOException e) {
      for (Rendezvous each : accepted) {
        each.close();
      }
      throw e instanceof SocketTimeoutException timeout
          ? timedOut("no client connected to port " + port, timeout)
          : e;
    }
  }

  private static void bind(ServerSocket listening, int port) throws IOException {
    try {
      listening.bind(new InetSocketAddress(port));
    } catch (IOException e) {
      throw new IOException("listening on port " + port + ": " + e.getMessage(), e);
    }
  }

  private static Rendezvous connect(String host, int port, Deadline deadline) throws IOException {
    Socket socket = new Socket();
    try {
      InetSocketAddress address = new InetSocketAddress(host, port);
      if (address.isUnresolved()) {
        throw new IOException("the host name is not known");
      }
      socket.connect(address, deadline.leftMs("a connection to " + host + ":" + port));
      return new Rendezvous(socket, deadline);
    } catch (IOException e) {
      socket.close();
      throw new IOException("connecting to " + host + ":" + port + ": " + e.getMessage(), e);
    }
  }

  public void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /**
   * Waits for a number of bytes.
   *
   * @param awaited meaning of the bytes, for messages
   */
  public byte[] read(int length, String awaited) throws IOException {
    socket.setSoTimeout(deadline.leftMs("waiting for the peer to report " + awaited));
    byte[] bytes = new byte[length];
    try {
      in.readFully(bytes);
    } catch (EOFException e) {
      throw new IOException("the peer closed the connection before it reported " + awaited, e);
    } catch (SocketTimeoutException e) {
      throw timedOut("the peer did not report " + awaited, e);
    }
    return bytes;
  }

  /**
   * Waits until both sides have reached this point: each sends one byte (sock_sync_data).
   *
   * @param reached state that both sides have reached, for messages
   */
  public void sync(String reached) throws IOException {
    write(new byte[1]);
    read(1, reached);
  }

  private static IOException timedOut(String what, SocketTimeoutException e) {
    return new IOException(what + " in time", e);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
