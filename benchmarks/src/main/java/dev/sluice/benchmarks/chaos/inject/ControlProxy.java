package dev.sluice.benchmarks.chaos.inject;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between peers and this executor's block server and disturbs their connections where
 * ordered. Virtual threads, two a connection; ends with the process.
 */
final class ControlProxy {
  private static final int CHUNK_BYTES = 64 << 10;
  private static final int CONNECT_TIMEOUT_MS = 5_000;

  /** Longer than Spark's transport lets a frame be. */
  private static final byte[] OVERSIZED_FRAME = {0x7f, -1, -1, -1, -1, -1, -1, -1, 3, 0, 0, 0};

  private final ChaosAgent agent;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private ServerSocket listener;

  ControlProxy(ChaosAgent agent) {
    this.agent = agent;
  }

  /** The port that peers are told; the first call starts to listen. */
  synchronized int inFrontOf(String host, int port) throws IOException {
    if (listener == null) {
      InetAddress address = InetAddress.getByName(host);
      listener = new ServerSocket(0, 50, address);
      Thread.startVirtualThread(() -> accept(new InetSocketAddress(address, port)));
    }
    return listener.getLocalPort();
  }

  /** So that peers connect anew: an order that is about connections finds some to disturb. */
  void cutAll() {
    open.forEach(ControlProxy::reset);
  }

  private void accept(InetSocketAddress server) {
    while (true) {
      try {
        Socket peer = listener.accept();
        Thread.startVirtualThread(() -> serve(peer, server));
      } catch (IOException e) {
        pause(1); // out of descriptors, perhaps: the next one may be had
      }
    }
  }

  private void serve(Socket peer, InetSocketAddress server) {
    open.add(peer);
    try (peer;
        Socket own = new Socket()) {
      if (agent.strikes(Injection.CONTROL_REFUSED)) {
        reset(peer);
      } else if (agent.strikes(Injection.CONTROL_HALF_OPEN)) {
        peer.getInputStream().transferTo(OutputStream.nullOutputStream());
      } else {
        own.connect(server, CONNECT_TIMEOUT_MS);
        boolean trickle = agent.strikes(Injection.CONTROL_TRICKLE);
        Thread back = Thread.startVirtualThread(() -> pass(own, peer, false, trickle));
        pass(peer, own, true, trickle);
        back.join();
      }
    } catch (IOException | InterruptedException e) {
      reset(peer);
    } finally {
      open.remove(peer);
    }
  }

  private void pass(Socket from, Socket to, boolean towardsServer, boolean trickle) {
    byte[] chunk = new byte[trickle ? 1 : CHUNK_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
        byte[] bytes = Arrays.copyOf(chunk, length);
        if (towardsServer) {
          disturb(bytes, out, to);
        } else {
          out.write(bytes);
        }
        if (trickle) {
          pause(1_000);
        }
      }
    } catch (IOException e) {
      // The connection is over, for whatever reason.
    }
    reset(from);
    reset(to);
  }

  private void disturb(byte[] bytes, OutputStream out, Socket to) throws IOException {
    if (agent.strikes(Injection.CONTROL_TRUNCATED)) {
      out.write(bytes, 0, bytes.length / 2);
      throw new IOException("truncated");
    }
    if (agent.strikes(Injection.CONTROL_RESET)) {
      out.write(bytes, 0, bytes.length / 2);
      reset(to);
      throw new IOException("reset");
    }
    if (agent.strikes(Injection.CONTROL_OVERSIZED)) {
      out.write(OVERSIZED_FRAME);
    }
    if (agent.strikes(Injection.CONTROL_GARBAGE)) {
      byte[] garbage = new byte[1 + agent.choose(200)];
      for (int i = 0; i < garbage.length; i++) {
        garbage[i] = (byte) agent.choose(256);
      }
      out.write(garbage);
    }
    out.write(bytes);
    if (agent.strikes(Injection.CONTROL_REPLAYED)) {
      out.write(bytes);
    }
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0); // RST instead of FIN
      socket.close();
    } catch (IOException e) {
      // It is closed.
    }
  }

  private static void pause(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
