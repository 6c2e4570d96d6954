// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/verbs pingpong}, which also plays with ibv_rc_pingpong and its siblings.
 * {@link ToolCommand.Timed} runs it on a daemon thread. It exchanges addresses with the peer, and
 * {@link PingPong} the messages.
 */
@Command(
    name = "pingpong",
    description = {
      "Sends messages to and fro between a server and a client. Either side may be ibv_rc_pingpong,"
          + " ibv_uc_pingpong, ibv_ud_pingpong or ibv_srq_pingpong with the same options.",
      "On RoCE the C programs need a GID, which their option -g gives."
    })
final class PingPongCommand extends PeerCommand {
  /** Number of addresses that ibv_srq_pingpong sends, however many queue pairs are in use. */
  private static final int SRQ_ADDRESSES = 256;

  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      defaultValue = "rc",
      description =
          "rc: reliable connection, uc: unreliable connection, ud: datagrams, srq: several reliable"
              + " connections with a shared receive queue (default: ${DEFAULT-VALUE})")
  PingPong.Type type;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Bytes of a message (default: 4096, datagrams 1024)")
  @Nullable Integer size;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 bytes (default: ${DEFAULT-VALUE})")
  int mtu = 1024;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "RECEIVES",
      description = "Receives that are posted at a time (default: ${DEFAULT-VALUE})")
  int rxDepth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "MESSAGES",
      description = "Messages that each side sends in total (default: ${DEFAULT-VALUE})")
  int iters = 1000;

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "QPS",
      description = "Queue pairs, with --type srq, at most 256 (default: ${DEFAULT-VALUE})")
  private int queuePairs = 16;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep on completion events (default: poll)")
  boolean events;

  @Option(
      names = {"-N", "--ext"},
      description =
          "Post by the work request API (ibv_wr_*), and poll an extended completion queue"
              + " (ibv_start_poll)")
  boolean ext;

  @Option(
      names = {"-c", "--check", "--chk"},
      description = "Compare the received data with the sent data")
  private boolean check;

  @Override
  void run() throws IOException {
    require(iters > 0, "--iters must be positive");
    require(size == null || size > 0, "--size must be positive");
    require(
        queuePairs > 0 && queuePairs <= SRQ_ADDRESSES, "--num-qp must be 1 to " + SRQ_ADDRESSES);
    require(rxDepth >= queuePairs(), "--rx-depth must be at least one receive for each queue pair");
    try (Arena arena = Arena.ofShared();
        LocalPort port = openPort()) {
      PingPong game = new PingPong(this, port, arena);
      meet(game);
      long nanos = game.play();
      if (check) {
        game.check();
      }
      long bytes = 2L * game.size() * iters;
      double seconds = (double) nanos / TimeUnit.SECONDS.toNanos(1);
      out()
          .printf(
              Locale.ROOT,
              "%d bytes in %.2f seconds = %.2f Mbit/sec%n%d iters in %.2f seconds = %.2f usec/iter%n",
              bytes,
              seconds,
              bytes * Byte.SIZE / seconds / 1e6,
              iters,
              seconds,
              seconds * 1e6 / iters);
    }
  }

  /** Number of queue pairs; more than one only with {@link PingPong.Type#SRQ}. */
  int queuePairs() {
    return type == PingPong.Type.SRQ ? queuePairs : 1;
  }

  /**
   * Exchanges addresses in the format of the C programs, and connects. The client confirms the
   * server's addresses. It sends messages only after both sides have connected.
   */
  private void meet(PingPong game) throws IOException {
    List<QpAddress> local = game.addresses();
    print("local", local);
    try (Rendezvous peer = meet()) {
      List<QpAddress> remote;
      if (isClient()) {
        send(peer, local);
        remote = receive(peer, local.size());
        peer.write(DONE);
        game.connect(remote);
      } else {
        remote = receive(peer, local.size());
        game.connect(remote);
        send(peer, local);
        peer.read(DONE.length, "that it has this side's address");
      }
      print("remote", remote);
    }
  }

  /** Number of addresses that each side sends. */
  private int sentAddresses() {
    return type == PingPong.Type.SRQ ? SRQ_ADDRESSES : 1;
  }

  /** Sends addresses, with zeros for unused queue pairs. */
  private void send(Rendezvous peer, List<QpAddress> addresses) throws IOException {
    for (int i = 0; i < sentAddresses(); i++) {
      peer.write((i < addresses.size() ? addresses.get(i) : QpAddress.NONE).toWire());
    }
  }

  private List<QpAddress> receive(Rendezvous peer, int qps) throws IOException {
    List<QpAddress> addresses = new ArrayList<>();
    for (int i = 0; i < sentAddresses(); i++) {
      addresses.add(QpAddress.fromWire(peer.read(QpAddress.WIRE_LENGTH, "its address")));
    }
    List<QpAddress> used = addresses.subList(0, qps);
    if (used.contains(QpAddress.NONE)) {
      throw new IOException("the peer has fewer than " + qps + " queue pairs (--num-qp)");
    }
    return used;
  }

  private void print(String side, List<QpAddress> addresses) {
    for (QpAddress address : addresses) {
      out().printf("  %-7s address: %s%n", side, address);
    }
  }
}
