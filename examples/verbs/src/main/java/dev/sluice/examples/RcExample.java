// SPDX-License-Identifier: Apache-2.0
package dev.sluice.examples;

import dev.sluice.examples.RcEndpoint.RcAddress;
import dev.sluice.verbs.ibv.IbvAhAttr;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvSendWrList;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The RC example of the manuals: the server SENDs a message, the client READs the server's buffer,
 * then WRITEs into it. TCP carries the addresses and synchronizes the two sides. Both sides print
 * and check the texts that arrive. The peer may be RDMA_RC_example.c of the manuals. {@link #main}
 * or {@code bin/verbs} makes one for its side, and uses it on one thread.
 *
 * <p>Arguments: {@code [SERVER [TCP-PORT [DEVICE [GID-INDEX]]]]}. The server passes {@code -} for
 * SERVER.
 */
public final class RcExample {
  static final String MSG = "SEND operation      ";
  private static final String READ_MSG = "RDMA read operation ";
  private static final String WRITE_MSG = "RDMA write operation";
  private static final int TIMEOUT_SECONDS = 60;

  private final RcEndpoint endpoint;
  private final Rendezvous peer;
  private final PrintWriter out;

  /** Uses the arguments but does not close them; the caller does. */
  public RcExample(RcEndpoint endpoint, Rendezvous peer, PrintWriter out) {
    this.endpoint = endpoint;
    this.peer = peer;
    this.out = out;
  }

  public void runServer() throws IOException {
    endpoint.text(MSG);
    endpoint.modifyToInit();
    connectQp();
    endpoint.postSend(IbvSendWrList.Opcode.SEND);
    endpoint.pollCompletion();
    endpoint.text(READ_MSG);
    peer.sync("that the message has arrived"); // the buffer is ready to be READ
    peer.sync("that it has read and written");
    expect("Contents of server buffer", WRITE_MSG);
  }

  public void runClient() throws IOException {
    endpoint.modifyToInit();
    endpoint.postReceive(); // before the server can send
    connectQp();
    endpoint.pollCompletion();
    expect("Message is", MSG);
    peer.sync("that its buffer is filled");
    endpoint.postSend(IbvSendWrList.Opcode.RDMA_READ);
    endpoint.pollCompletion();
    expect("Contents of server's buffer", READ_MSG);
    endpoint.text(WRITE_MSG);
    endpoint.postSend(IbvSendWrList.Opcode.RDMA_WRITE);
    endpoint.pollCompletion();
    peer.sync("that it has seen the end");
  }

  /** Exchanges addresses with the peer and takes the queue pair to RTS (connect_qp). */
  private void connectQp() throws IOException {
    peer.write(endpoint.address().toWire());
    RcAddress remote = RcAddress.fromWire(peer.read(RcAddress.WIRE_LENGTH, "its address"));
    endpoint.modifyToRtr(remote);
    endpoint.modifyToRts();
    peer.sync("that it is connected");
  }

  private void expect(String title, String expected) throws IOException {
    String text = endpoint.text();
    out.println(title + ": '" + text + "'");
    if (!text.equals(expected)) {
      throw new IOException(title + ": '" + text + "' instead of '" + expected + "'");
    }
  }

  public static void main(String[] arguments) throws IOException {
    boolean isServer = arguments.length == 0 || arguments[0].equals("-");
    int tcpPort = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 19875;
    String device = arguments.length > 2 && !arguments[2].isEmpty() ? arguments[2] : null;
    int gidIndex = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 0;
    Deadline deadline = Deadline.in(TIMEOUT_SECONDS);
    IbvAhAttr local =
        IbvAhAttr.ZERO.with(
            ah -> {
              ah.port = 1;
              ah.global = true;
              ah.sgidIndex = gidIndex;
              ah.hopLimit = 64;
            });
    try (Arena arena = Arena.ofShared();
        IbvContext context = open(device);
        Rendezvous peer =
            Rendezvous.open(isServer ? null : arguments[0], tcpPort, 1, deadline).getFirst()) {
      RcEndpoint endpoint = new RcEndpoint(context, arena, local, deadline);
      RcExample example =
          new RcExample(endpoint, peer, new PrintWriter(System.out, true, StandardCharsets.UTF_8));
      if (isServer) {
        example.runServer();
      } else {
        example.runClient();
      }
    }
  }

  /**
   * Opens a device; the caller closes it.
   *
   * @param name null for the first device
   */
  public static IbvContext open(@Nullable String name) throws IOException {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      String wanted = name == null ? "" : " " + name + ", only " + list.devices();
      return (name == null ? list.devices().stream().findFirst() : list.find(name))
          .orElseThrow(() -> new IOException("there is no RDMA device" + wanted))
          .open();
    }
  }
}
