// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Proxy between a client and a server that records the client's bytes. For one connection. */
public final class RecordingProxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int serverPort;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private Socket client;
  private Socket server;

  public RecordingProxy(int serverPort) throws IOException {
    this.serverPort = serverPort;
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::run);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** All bytes that the client has sent. */
  byte[] said() {
    synchronized (said) {
      return said.toByteArray();
    }
  }

  private void run() {
    try {
      client = listener.accept();
      server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
      Thread.ofVirtual().start(() -> copy(server, client, OutputStream.nullOutputStream()));
      copy(client, server, said);
    } catch (IOException e) {
      // The client notices that it has no connection.
    }
  }

  private void copy(Socket from, Socket to, OutputStream copy) {
    byte[] buffer = new byte[1024];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int bytes = in.read(buffer); bytes >= 0; bytes = in.read(buffer)) {
        synchronized (said) {
          copy.write(buffer, 0, bytes);
        }
        out.write(buffer, 0, bytes);
      }
    } catch (IOException e) {
      // One side has closed its connection; close the other, too.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
