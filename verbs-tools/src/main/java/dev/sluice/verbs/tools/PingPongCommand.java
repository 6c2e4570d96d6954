// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code bin/verbs pingpong}: sends messages back and forth, with itself or with
 * ibv_rc_pingpong and its siblings.
 */
@Command(
    name = "pingpong",
    description = {
      "Sends messages to and fro between a server and a client. Either side may be ibv_rc_pingpong,"
          + " ibv_uc_pingpong, ibv_ud_pingpong or ibv_srq_pingpong with the same options.",
      "On RoCE the C programs need a GID, which their option -g gives."
    })
final class PingPongCommand implements Callable<Integer> {
  private static final int DEFAULT_SIZE = 4096;
  private static final int DEFAULT_DATAGRAM = 1024;

  @Spec private CommandSpec spec;
  @Mixin private DeviceOptions device;
  @Mixin private TcpOptions tcp;

  @Option(
      names = {"-t", "--type"},
      paramLabel = "TYPE",
      defaultValue = "rc",
      description =
          "rc: reliable connection, uc: unreliable connection, ud: datagrams, srq: several reliable"
              + " connections with a shared receive queue (default: ${DEFAULT-VALUE})")
  private PingPongType type;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Bytes of a message (default: 4096, datagrams 1024)")
  private Integer size;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 bytes (default: ${DEFAULT-VALUE})")
  private int mtu = 1024;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "RECEIVES",
      description = "Receives that are posted at a time (default: ${DEFAULT-VALUE})")
  private int rxDepth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "MESSAGES",
      description = "Messages that each side sends in total (default: ${DEFAULT-VALUE})")
  private int iters = 1000;

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "QPS",
      description = "Queue pairs, with --type srq, at most 256 (default: ${DEFAULT-VALUE})")
  private int queuePairs = 16;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep on completion events (default: poll)")
  private boolean events;

  @Option(
      names = {"-N", "--ext"},
      description =
          "Post by the work request API (ibv_wr_*), and poll an extended completion queue"
              + " (ibv_start_poll)")
  private boolean ext;

  @Option(
      names = {"-c", "--check", "--chk"},
      description = "Compare the received data with the sent data")
  private boolean check;

  @Override
  public Integer call() throws IOException {
    checkArguments();
    try (Arena arena = Arena.ofShared();
        LocalPort port = device.open()) {
      PingPongSettings settings = settings(port);
      int entries = settings.rxDepth() + settings.queuePairs();
      CompletionWait completions =
          new CompletionWait(
              port.context(),
              arena,
              entries,
              events ? CompletionMode.EVENTS : CompletionMode.SPIN,
              tcp.deadline(),
              ext);
      PingPongEndpoint endpoint = new PingPongEndpoint(port, arena, completions.cq(), settings);
      PingPong game = new PingPong(endpoint, settings, completions, check);
      game.postReceives();
      meet(endpoint);
      print(settings, game.play());
    }
    return 0;
  }

  private void checkArguments() {
    int receivers = type == PingPongType.SRQ ? queuePairs : 1;
    check(iters > 0, "--iters must be positive");
    check(size == null || size > 0, "--size must be positive");
    check(
        queuePairs > 0 && queuePairs <= PingPongType.SRQ_ADDRESSES,
        "--num-qp must be 1 to " + PingPongType.SRQ_ADDRESSES);
    check(rxDepth >= receivers, "--rx-depth must be at least one receive for each queue pair");
  }

  private void check(boolean holds, String message) {
    if (!holds) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }

  private PingPongSettings settings(LocalPort port) throws IOException {
    boolean datagrams = type == PingPongType.UD;
    int bytes = size != null ? size : datagrams ? DEFAULT_DATAGRAM : DEFAULT_SIZE;
    if (datagrams && bytes > port.activeMtu().bytes()) {
      throw new IOException(
          port
              + " has an MTU of "
              + port.activeMtu().bytes()
              + " bytes, which no datagram may exceed");
    }
    return new PingPongSettings(
        type,
        bytes,
        datagrams ? port.activeMtu() : port.mtu(mtu),
        rxDepth,
        iters,
        type == PingPongType.SRQ ? queuePairs : 1,
        tcp.isClient(),
        ext);
  }

  /** Exchanges addresses and connects. The client sends only after both sides have done so. */
  private void meet(PingPongEndpoint endpoint) throws IOException {
    List<QpAddress> local = endpoint.addresses();
    print("local", local);
    try (Rendezvous peer = tcp.meet()) {
      PingPongExchange exchange = new PingPongExchange(peer, type.addresses(), local.size());
      List<QpAddress> remote;
      if (tcp.isClient()) {
        exchange.send(local);
        remote = exchange.receive();
        exchange.sendDone();
        endpoint.connect(remote);
      } else {
        remote = exchange.receive();
        endpoint.connect(remote);
        exchange.send(local);
        exchange.awaitDone();
      }
      print("remote", remote);
    }
  }

  private void print(String side, List<QpAddress> addresses) {
    for (QpAddress address : addresses) {
      spec.commandLine().getOut().printf("  %-7s address: %s%n", side, address);
    }
  }

  private void print(PingPongSettings settings, long nanos) {
    PrintWriter out = spec.commandLine().getOut();
    double seconds = (double) nanos / TimeUnit.SECONDS.toNanos(1);
    long bytes = 2L * settings.size() * settings.iters();
    out.printf(
        Locale.ROOT,
        "%d bytes in %.2f seconds = %.2f Mbit/sec%n",
        bytes,
        seconds,
        bytes * Byte.SIZE / seconds / 1e6);
    out.printf(
        Locale.ROOT,
        "%d iters in %.2f seconds = %.2f usec/iter%n",
        settings.iters(),
        seconds,
        seconds * 1e6 / settings.iters());
  }
}
