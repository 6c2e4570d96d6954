package dev.sluice.benchmarks.chaos.inject;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MessageType;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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

  /** Where Spark's transport has the type of a frame, and the one of a request. */
  private static final int FRAME_TYPE_AT = 8;

  private static final int RPC_REQUEST = 3;

  /** Where a request has the type of Sluice's message: after ids, lengths and a version. */
  private static final int MESSAGE_TYPE_AT = 22;

  private static final int RESOLVE =
      ControlMessages.TYPES.stream()
          .filter(type -> type.type() == ControlMessages.Resolve.class)
          .mapToInt(MessageType::id)
          .findFirst()
          .orElseThrow();

  private final ChaosAgent agent;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private InetSocketAddress server;
  private InetSocketAddress shown;
  private ServerSocket listener;

  ControlProxy(ChaosAgent agent) {
    this.agent = agent;
  }

  /** The port that peers are told; the first call starts to listen. */
  synchronized int inFrontOf(String host, int port) throws IOException {
    if (shown == null) {
      server = new InetSocketAddress(host, port);
      shown = new InetSocketAddress(host, 0);
      open();
    }
    return shown.getPort();
  }

  /** Whether connections are accepted at all. */
  synchronized void listen(boolean listens) throws IOException {
    if (shown != null && listens == listener.isClosed()) {
      if (listens) {
        open();
      } else {
        listener.close();
      }
    }
  }

  private void open() throws IOException {
    ServerSocket opened = new ServerSocket();
    opened.bind(shown);
    shown = (InetSocketAddress) opened.getLocalSocketAddress();
    listener = opened;
    Thread.startVirtualThread(() -> accept(opened));
  }

  /** So that peers connect anew: an order that is about connections finds some to disturb. */
  void cutAll() {
    open.forEach(ControlProxy::reset);
  }

  private void accept(ServerSocket listening) {
    while (!listening.isClosed()) {
      try {
        Socket peer = listening.accept();
        Thread.startVirtualThread(() -> serve(peer));
      } catch (IOException e) {
        pause(1); // out of descriptors, perhaps: the next one may be had
      }
    }
  }

  private void serve(Socket peer) {
    open.add(peer);
    try (peer;
        Socket own = new Socket()) {
      if (agent.strikes(Injection.CONTROL_HALF_OPEN)) {
        peer.getInputStream().transferTo(OutputStream.nullOutputStream());
      } else {
        own.connect(server, CONNECT_TIMEOUT_MS);
        boolean trickle = agent.strikes(Injection.CONTROL_TRICKLE);
        Conversation conversation = new Conversation();
        Thread back =
            Thread.startVirtualThread(
                () -> pass(own, peer, bytes -> conversation.answer(bytes, peer), trickle));
        pass(peer, own, bytes -> conversation.ask(bytes, own), trickle);
        back.join();
      }
    } catch (IOException | InterruptedException e) {
      reset(peer);
    } finally {
      open.remove(peer);
    }
  }

  private static void pass(Socket from, Socket to, Passage passage, boolean trickle) {
    byte[] chunk = new byte[trickle ? 1 : CHUNK_BYTES];
    try {
      InputStream in = from.getInputStream();
      for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
        passage.pass(Arrays.copyOf(chunk, length));
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

  /** Passes on what came, or something else. */
  @FunctionalInterface
  private interface Passage {
    void pass(byte[] bytes) throws IOException;
  }

  /** What has been asked over a connection. Each direction has a thread. */
  private final class Conversation {
    private boolean truncated;
    private volatile boolean resolving;

    void ask(byte[] bytes, Socket server) throws IOException {
      if (isResolve(bytes)) {
        haltAt(Injection.HALT_BEFORE_RESOLVE);
        resolving = true;
      }
      if (truncated) {
        return;
      }
      OutputStream out = server.getOutputStream();
      if (agent.strikes(Injection.CONTROL_TRUNCATED)) {
        truncated = true;
        out.write(bytes, 0, bytes.length / 2);
        return;
      }
      if (agent.strikes(Injection.CONTROL_RESET)) {
        out.write(bytes, 0, bytes.length / 2);
        reset(server);
        throw new IOException("reset");
      }
      if (agent.strikes(Injection.CONTROL_OVERSIZED)) {
        out.write(OVERSIZED_FRAME);
      }
      if (agent.strikes(Injection.CONTROL_GARBAGE)) {
        out.write(garbage());
      }
      out.write(bytes);
      if (agent.strikes(Injection.CONTROL_REPLAYED)) {
        out.write(bytes);
      }
    }

    void answer(byte[] bytes, Socket peer) throws IOException {
      OutputStream out = peer.getOutputStream();
      if (resolving && agent.mayStrike(Injection.HALT_IN_RESOLVE)) {
        out.write(bytes, 0, bytes.length / 2);
        haltAt(Injection.HALT_IN_RESOLVE);
        out.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
      } else {
        out.write(bytes);
      }
      if (resolving) {
        haltAt(Injection.HALT_AFTER_RESOLVE);
      }
      resolving = false;
    }
  }

  private static boolean isResolve(byte[] bytes) {
    return bytes.length > MESSAGE_TYPE_AT
        && bytes[FRAME_TYPE_AT] == RPC_REQUEST
        && bytes[MESSAGE_TYPE_AT] == RESOLVE;
  }

  private void haltAt(Injection event) {
    if (agent.strikesHere(event)) {
      Runtime.getRuntime().halt(137); // as the shell says of kill -9
    }
  }

  private byte[] garbage() {
    byte[] garbage = new byte[1 + agent.choose(200)];
    for (int i = 0; i < garbage.length; i++) {
      garbage[i] = (byte) agent.choose(256);
    }
    return garbage;
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
