// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Resolved;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.commons.lang3.function.FailableBiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Proxy between peers and this executor's block server, which disturbs their connections when
 * ordered. {@link ChaosShuffleManager} makes it. {@link ChaosDriverChannel} opens its port on the
 * thread that publishes the executor, and publishes that port. At each order the agent's thread
 * cuts connections, and closes or opens the port.
 *
 * <p>The lock guards the port and the listener. Each connection has two virtual threads, which do
 * not take it. It ends with the process.
 */
final class ControlProxy {
  private static final int CONNECT_TIMEOUT_MS = 5_000;

  /** The beginning of a frame longer than Spark's transport allows: length and type RPC_REQUEST. */
  private static final byte[] OVERSIZED_FRAME = {0x7f, -1, -1, -1, -1, -1, -1, -1, 3, 0, 0, 0};

  /** Delay that is longer than a lease. */
  private static final long LATE_STAGE_MS = 6_000;

  /** Delay after which the peer has sent its next request. */
  private static final long LATE_DONE_MS = 500;

  /** Time after which the server is copying, if the disk is slow. */
  private static final long COPYING_MS = 30;

  /** First port of the range from which the kernel assigns ports (ip_local_port_range). */
  private static final int FIRST_FREE_PORT = 32_768;

  /** Distance of the proxy's port from a block server's port that the settings chose. */
  private static final int CHOSEN_PORTS = 1_000;

  private final ChaosAgent agent;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  @SuppressWarnings("NullAway.Init") // set, as the listener is, with the address that is shown
  private InetSocketAddress server;

  private @Nullable InetSocketAddress shown;

  @SuppressWarnings("NullAway.Init")
  private ServerSocket listener;

  ControlProxy(ChaosAgent agent) {
    this.agent = agent;
  }

  /** Returns the port that peers get; the first call starts to listen. */
  synchronized int inFrontOf(String host, int port) throws IOException {
    if (shown == null) {
      server = new InetSocketAddress(host, port);
      // An assigned port is assigned again later, to another executor.
      shown = new InetSocketAddress(host, port < FIRST_FREE_PORT ? port + CHOSEN_PORTS : 0);
      open();
    }
    return shown.getPort();
  }

  /** Starts or stops accepting connections. */
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

  /** Resets all connections, so that peers connect again and the new order has some to disturb. */
  void cutAll() {
    open.forEach(ControlProxy::reset);
  }

  private void accept(ServerSocket listening) {
    while (!listening.isClosed()) {
      try {
        Socket peer = listening.accept();
        Thread.startVirtualThread(() -> serve(peer));
      } catch (IOException e) {
        pause(1); // Descriptors may have run out; the next accept may succeed.
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
        Conversation conversation = new Conversation(own);
        Thread back =
            Thread.startVirtualThread(
                () -> between(own, peer, trickle ? this::trickle : conversation::answer));
        between(peer, own, trickle ? this::trickle : conversation::ask);
        back.join();
      }
    } catch (IOException | InterruptedException e) {
      reset(peer);
    } finally {
      open.remove(peer);
    }
  }

  /**
   * @param passage passes on bytes, or something else, until the stream ends
   */
  private static void between(
      Socket from, Socket to, FailableBiConsumer<InputStream, OutputStream, IOException> passage) {
    try {
      passage.accept(from.getInputStream(), to.getOutputStream());
    } catch (IOException e) {
      // The connection is over, whatever the reason.
    }
    reset(from);
    reset(to);
  }

  private void trickle(InputStream in, OutputStream out) throws IOException {
    for (int next = in.read(); next >= 0; next = in.read()) {
      out.write(next);
      pause(1_000);
    }
  }

  /** A connection, with one thread for each direction. */
  private final class Conversation {
    private final Socket server;

    /** Staging requests without an answer yet. */
    private final AtomicInteger staging = new AtomicInteger();

    Conversation(Socket server) {
      this.server = server;
    }

    void ask(InputStream in, OutputStream out) throws IOException {
      DataInputStream frames = new DataInputStream(in);
      boolean truncated = false;
      for (Frame next = Frame.read(frames); next != null; next = Frame.read(frames)) {
        if (!truncated) {
          truncated = agent.strikes(Injection.CONTROL_TRUNCATED);
          if (truncated) {
            out.write(next.bytes(), 0, next.bytes().length / 2);
          } else {
            ask(next, out);
          }
        }
      }
    }

    private void ask(Frame frame, OutputStream out) throws IOException {
      if (frame.is(Resolve.class)) {
        haltAt(Injection.HALT_BEFORE_RESOLVE);
      }
      if (frame.is(Stage.class)) {
        agent.stopAt(Injection.STOP_BEFORE_STAGE);
        staging.incrementAndGet();
      }
      if (frame.is(Done.class)) {
        agent.stopAt(Injection.STOP_BEFORE_DONE);
      }
      if (agent.strikes(Injection.CONTROL_RESET)) {
        out.write(frame.bytes(), 0, frame.bytes().length / 2);
        reset(server);
        throw new IOException("the fault harness reset the connection");
      }
      if (agent.strikes(Injection.CONTROL_OVERSIZED)) {
        out.write(OVERSIZED_FRAME);
      }
      if (agent.strikes(Injection.CONTROL_GARBAGE)) {
        out.write(garbage());
      }
      if (frame.is(Stage.class) && agent.strikes(Injection.STAGE_LATE)) {
        later(LATE_STAGE_MS, frame, out);
      } else if (frame.is(Done.class) && agent.strikes(Injection.DONE_LATE)) {
        later(LATE_DONE_MS, frame, out);
      } else if (!frame.is(Done.class) || !agent.strikes(Injection.DONE_LOST)) {
        out.write(frame.bytes());
      }
      if (agent.strikes(Injection.CONTROL_REPLAYED)
          || (frame.is(Done.class) && agent.strikes(Injection.DONE_TWICE))) {
        out.write(frame.bytes());
      }
      if (frame.is(Stage.class)) {
        whileItCopies();
      }
    }

    private void whileItCopies() {
      if (agent.mayStrike(Injection.STOP_COPYING) || agent.mayStrike(Injection.HALT_COPYING)) {
        pause(COPYING_MS);
        if (staging.get() > 0) {
          agent.stopAt(Injection.STOP_COPYING);
          haltAt(Injection.HALT_COPYING);
        }
      }
    }

    /**
     * Sends the frame later, after subsequent ones. A socket's stream takes one frame at a time.
     */
    private void later(long ms, Frame frame, OutputStream out) {
      Thread.startVirtualThread(
          () -> {
            pause(ms);
            try {
              out.write(frame.bytes());
            } catch (IOException e) {
              // The connection has ended meanwhile.
            }
          });
    }

    void answer(InputStream in, OutputStream out) throws IOException {
      DataInputStream frames = new DataInputStream(in);
      for (Frame next = Frame.read(frames); next != null; next = Frame.read(frames)) {
        answer(next, out);
      }
    }

    private void answer(Frame frame, OutputStream out) throws IOException {
      byte[] bytes = frame.bytes();
      if (frame.is(Resolved.class)) {
        out.write(bytes, 0, bytes.length / 2);
        haltAt(Injection.HALT_IN_RESOLVE);
        out.write(bytes, bytes.length / 2, bytes.length - bytes.length / 2);
        haltAt(Injection.HALT_AFTER_RESOLVE);
      } else if (frame.is(Staged.class) && agent.strikes(Injection.STAGED_LATE)) {
        later(LATE_STAGE_MS, frame, out);
      } else {
        out.write(bytes);
      }
      if (frame.is(Staged.class) || frame.is(NotStaged.class)) {
        staging.decrementAndGet();
        agent.stopAt(Injection.STOP_AFTER_STAGE);
      }
    }
  }

  private void haltAt(Injection event) {
    if (agent.strikesHere(event)) {
      Runtime.getRuntime().halt(137); // the exit status that a shell reports for kill -9
    }
  }

  private byte[] garbage() {
    byte[] garbage = new byte[1 + agent.choose(200)];
    new Random(agent.choose(Integer.MAX_VALUE)).nextBytes(garbage);
    return garbage;
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0); // RST instead of FIN
      socket.close();
    } catch (IOException e) {
      // It is closed already.
    }
  }

  /** Sleeps; shorter if the thread is interrupted, and leaves it interrupted. */
  static void pause(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
