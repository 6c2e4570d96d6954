// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Answers each request of Spark's transport with the request itself. For one connection. */
final class MirrorServer implements AutoCloseable {
  private static final byte RPC_REQUEST = 3;
  private static final byte RPC_RESPONSE = 4;

  private final ServerSocket listener;
  private volatile int reflected;

  MirrorServer() throws IOException {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::run);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Number of requests that came. */
  int reflected() {
    return reflected;
  }

  private void run() {
    try (Socket socket = listener.accept();
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
      while (true) {
        long frameBytes = in.readLong();
        byte[] frame = in.readNBytes((int) frameBytes - Long.BYTES);
        if (frame[0] == RPC_REQUEST) {
          frame[0] = RPC_RESPONSE;
          reflected++;
        }
        out.writeLong(frameBytes);
        out.write(frame);
      }
    } catch (IOException e) {
      // The client has closed the connection.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
