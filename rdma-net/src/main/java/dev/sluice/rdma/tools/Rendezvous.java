package dev.sluice.rdma.tools;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;

/**
 * The TCP connection over which both sides of a test tell each other their addresses. One thread
 * uses and closes it.
 */
final class Rendezvous implements AutoCloseable {
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
   * @param server null to be the server: to wait for one connection
   */
  static Rendezvous open(String server, int port, Deadline deadline) throws IOException {
    return server == null ? accept(port, deadline) : connect(server, port, deadline);
  }

  private static Rendezvous accept(int port, Deadline deadline) throws IOException {
    try (ServerSocket listening = new ServerSocket()) {
      listening.setReuseAddress(true);
      bind(listening, port);
      listening.setSoTimeout(deadline.leftMs("a connection to port " + port));
      return new Rendezvous(listening.accept(), deadline);
    } catch (SocketTimeoutException e) {
      throw timedOut("nobody connected to port " + port, e);
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

  /** Whether the other side is on this machine. */
  boolean isLocal() throws IOException {
    return NetworkInterface.getByInetAddress(socket.getInetAddress()) != null;
  }

  void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /**
   * Waits for so many bytes.
   *
   * @param awaited what they are, for messages
   */
  byte[] read(int length, String awaited) throws IOException {
    socket.setSoTimeout(deadline.leftMs(awaited));
    byte[] bytes = new byte[length];
    try {
      in.readFully(bytes);
    } catch (EOFException e) {
      throw new IOException("the peer hung up before it sent " + awaited, e);
    } catch (SocketTimeoutException e) {
      throw timedOut("the peer did not send " + awaited, e);
    }
    return bytes;
  }

  /**
   * Waits until both sides have come here.
   *
   * @param reached what they have done, for messages
   */
  void sync(String reached) throws IOException {
    write(new byte[1]);
    read(1, reached);
  }

  private static IOException timedOut(String what, SocketTimeoutException e) {
    return new IOException(what + " in time (--timeout)", e);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
