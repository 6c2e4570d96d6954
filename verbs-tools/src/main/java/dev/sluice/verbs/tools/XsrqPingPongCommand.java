// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static dev.sluice.verbs.ibv.IbvSendWrList.Opcode.SEND;

import dev.sluice.examples.Rendezvous;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.FileDescriptors;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvCq;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import dev.sluice.verbs.ibv.IbvMr;
import dev.sluice.verbs.ibv.IbvPd;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvQpCap;
import dev.sluice.verbs.ibv.IbvQpInitAttr;
import dev.sluice.verbs.ibv.IbvQpInitAttrEx;
import dev.sluice.verbs.ibv.IbvRecvWrList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import dev.sluice.verbs.ibv.IbvSrq;
import dev.sluice.verbs.ibv.IbvSrqInitAttrEx;
import dev.sluice.verbs.ibv.IbvXrcd;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/verbs xsrq-pingpong}: a ping-pong over extended reliable connections
 * (XRC), compatible with ibv_xsrq_pingpong. Each side has two queue pairs per peer, and one shared
 * receive queue. A message names its receive queue, so the server reaches the clients of one XRC
 * domain through any of its queue pairs. {@link ToolCommand.Timed} runs the command on a daemon
 * thread.
 */
@Command(
    name = "xsrq-pingpong",
    description =
        "Sends messages to and fro over XRC between a server and its clients. Any of them may be"
            + " ibv_xsrq_pingpong with the same options. Clients on one host share an XRC domain.")
final class XsrqPingPongCommand extends PeerCommand {
  private static final Path DOMAIN = Path.of("/tmp/xrc_domain");
  private static final int O_CREAT = 0x40;
  private static final long RECEIVE = 1;
  private static final byte[] END = "END\0".getBytes(StandardCharsets.US_ASCII);

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Bytes of a message (default: ${DEFAULT-VALUE})")
  private int size = 4096;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 bytes (default: ${DEFAULT-VALUE})")
  private int mtu = 1024;

  @Option(
      names = {"-c", "--clients"},
      paramLabel = "CLIENTS",
      description = "Clients that the server waits for (default: ${DEFAULT-VALUE})")
  private int clients = 1;

  @Option(
      names = {"-n", "--num_tests"},
      paramLabel = "MESSAGES",
      description = "Messages to each peer (default: ${DEFAULT-VALUE})")
  private int tests = 5;

  private final List<IbvQp> senders = new ArrayList<>();
  private final List<Integer> srqNums = new ArrayList<>();

  /** Numbers of receiving queue pairs. Messages to a client may arrive on other clients' ones. */
  private final List<Integer> receivers = new ArrayList<>();

  /** Memory and shared receive queue of this side, and lists of one request each. */
  private record Side(IbvMr mr, IbvSrq srq, IbvSendWrList send, IbvRecvWrList receive) {
    void postReceive() throws VerbsException {
      receive.clear();
      srq.postRecv(receive.add(RECEIVE).sge(mr.address(), (int) mr.length(), mr.lkey()));
    }

    void postSend(IbvQp sender, int srqNum, int flags) throws VerbsException {
      send.clear();
      send.add(0, SEND, flags).sge(mr.address(), (int) mr.length(), mr.lkey()).xrc(srqNum);
      sender.postSend(send);
    }
  }

  @Override
  void run() throws IOException {
    require(
        size >= 1 && clients >= 1 && tests >= 1,
        "--size, --clients and --num_tests must be positive");
    try (Arena arena = Arena.ofShared();
        LocalPort port = openPort()) {
      IbvContext context = port.context();
      if ((context.queryDevice().get("orig_attr.device_cap_flags") & IbvDeviceAttr.Caps.XRC) == 0) {
        throw new IOException(
            context.device() + " does not support extended reliable connections (XRC)");
      }
      int fd = FileDescriptors.open(DOMAIN);
      try (IbvXrcd xrcd = context.openXrcd(fd, O_CREAT)) {
        play(port, arena, xrcd);
      } finally {
        FileDescriptors.close(fd);
      }
    }
    out().println("success");
  }

  private void play(LocalPort port, Arena arena, IbvXrcd xrcd) throws IOException {
    int sides = isClient() ? 1 : clients;
    CompletionWait completions =
        new CompletionWait(
            port.context(), arena, 2 * sides, CompletionWait.Mode.YIELD, this, false);
    List<Rendezvous> peers = meet(sides);
    try (IbvPd pd = port.context().allocPd()) {
      Side side =
          new Side(
              pd.regMr(arena.allocate(size, 4096), IbvMr.Access.LOCAL_WRITE),
              pd.createSrqEx(IbvSrqInitAttrEx.xrc(sides, 1, xrcd, completions.cq())),
              new IbvSendWrList(arena, 1, 1),
              new IbvRecvWrList(arena, 1, 1));
      for (Rendezvous peer : peers) {
        connect(
            peer,
            port,
            side,
            xrcd.createQpEx(attr(IbvQp.Type.XRC_RECV, null, 0, 0)),
            pd.createQpEx(attr(IbvQp.Type.XRC_SEND, completions.cq(), sides * tests, 1)));
      }
      play(completions, side);
      end(peers);
    } finally {
      for (Rendezvous peer : peers) {
        peer.close();
      }
    }
  }

  private static IbvQpInitAttrEx attr(
      IbvQp.Type type, @Nullable IbvCq sendCq, int sends, int sges) {
    IbvQpCap cap = new IbvQpCap(sends, 0, sges, 0, 0);
    return IbvQpInitAttrEx.of(new IbvQpInitAttr(type, sendCq, null, null, cap, false), 0);
  }

  private void connect(Rendezvous peer, LocalPort port, Side side, IbvQp receiving, IbvQp sending)
      throws IOException {
    int psn = LocalPort.newPsn();
    int access = IbvMr.Access.REMOTE_WRITE | IbvMr.Access.REMOTE_READ;
    LocalPort.Qp receiver = port.toInit(receiving, psn, access);
    LocalPort.Qp sender = port.toInit(sending, psn, 0);
    side.postReceive();
    Address local = new Address(receiver.address(), sender.address(), side.srq().srqNum());
    peer.write(local.toWire());
    Address remote = Address.fromWire(peer.read(Address.WIRE_LENGTH, "its address"));
    out().printf("  local   %s%n  remote  %s%n", local, remote);
    receiver.connect(remote.sender(), port.mtu(mtu), 0);
    sender.connect(remote.receiver(), port.mtu(mtu), 0);
    receivers.add(receiving.qpNum());
    senders.add(sending);
    srqNums.add(remote.srqNum());
  }

  private void play(CompletionWait completions, Side side) throws IOException {
    int[] sends = new int[senders.size()];
    for (int peer = 0; !isClient() && peer < sends.length; peer++) {
      send(side, peer, sends);
    }
    for (int left = sends.length * (tests + 1); left > 0; ) {
      int count = completions.await("a message");
      left -= count;
      for (int i = 0; i < count; i++) {
        if (completions.wrId(i) == RECEIVE) {
          side.postReceive();
          int peer = sends.length == 1 ? 0 : receivers.indexOf(completions.qpNum(i));
          if (sends[peer] < tests) {
            send(side, peer, sends);
          }
        }
      }
    }
  }

  /** Sends a message. Only the last message to a peer raises a completion. */
  private void send(Side side, int peer, int[] sends) throws VerbsException {
    IbvQp sender = senders.get((peer + sends[peer]++) % sends.length);
    int flags = sends[peer] == tests ? IbvSendWrList.Flags.SIGNALED : 0;
    side.postSend(sender, srqNums.get(peer), flags);
  }

  /** Ends in step. A client keeps its receiver until the server has all clients' answers. */
  private void end(List<Rendezvous> peers) throws IOException {
    if (isClient()) {
      peers.getFirst().write(END);
    }
    for (Rendezvous peer : peers) {
      peer.read(END.length, "that it has all messages");
    }
    for (Rendezvous peer : isClient() ? List.<Rendezvous>of() : peers) {
      peer.write(END);
    }
  }

  /**
   * Address in the format of the C program: the line of {@link QpAddress} with the numbers of both
   * queue pairs and of the shared receive queue.
   */
  record Address(QpAddress receiver, QpAddress sender, int srqNum) {
    static final int WIRE_LENGTH = QpAddress.WIRE_LENGTH + 2 * 7;

    byte[] toWire() {
      String[] parts = new String(receiver.toWire(), StandardCharsets.US_ASCII).split(":");
      return "%s:%s:%06x:%s:%06x:%s"
          .formatted(parts[0], parts[1], sender.qpNumber(), parts[2], srqNum, parts[3])
          .getBytes(StandardCharsets.US_ASCII);
    }

    static Address fromWire(byte[] bytes) throws IOException {
      String[] parts = (new String(bytes, StandardCharsets.US_ASCII) + ":::::").split(":", -1);
      return new Address(
          withNumber(parts, 1), withNumber(parts, 2), withNumber(parts, 4).qpNumber());
    }

    private static QpAddress withNumber(String[] parts, int index) throws IOException {
      String line = String.join(":", parts[0], parts[index], parts[3], parts[5]);
      return QpAddress.fromWire(line.getBytes(StandardCharsets.US_ASCII));
    }
  }
}
