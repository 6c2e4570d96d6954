package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The first program of the verbs manuals: a SEND, a READ and a WRITE between two processes. */
@Command(
    name = "rc-example",
    description = {
      "The example of the verbs manuals, between a server and a client, both of them this command:",
      "the server SENDs a message, the client READs the server's buffer, then WRITEs into it; both"
          + " check what they got."
    })
final class RcExampleCommand implements Callable<Integer> {
  private static final String SENT = "SEND operation";
  private static final String READ = "RDMA read operation";
  private static final String WRITTEN = "RDMA write operation";

  @Spec private CommandSpec spec;
  @Mixin private DeviceOptions device;
  @Mixin private TcpOptions tcp;

  @Override
  public Integer call() throws IOException {
    try (Arena arena = Arena.ofShared();
        LocalPort port = device.open();
        Rendezvous peer = tcp.meet()) {
      RcExample example = new RcExample(port, arena, peer, tcp.deadline());
      if (tcp.isClient()) {
        runClient(example);
      } else {
        runServer(example);
      }
    }
    return 0;
  }

  private void runServer(RcExample example) throws IOException {
    example.text(SENT);
    example.connect();
    example.sync("that it is connected");
    example.transfer(IbvWrOpcode.SEND);
    example.text(READ);
    example.sync("that the message is there");
    example.sync("that it has read and written");
    expect(example, "the client wrote", WRITTEN);
  }

  private void runClient(RcExample example) throws IOException {
    example.postReceive();
    example.connect();
    example.sync("that it is connected");
    example.awaitMessage();
    expect(example, "the server sent", SENT);
    example.sync("that its buffer is filled");
    example.transfer(IbvWrOpcode.RDMA_READ);
    expect(example, "the server's buffer was", READ);
    example.text(WRITTEN);
    example.transfer(IbvWrOpcode.RDMA_WRITE);
    example.sync("that it has seen the end");
  }

  private void expect(RcExample example, String what, String expected) throws IOException {
    String text = example.text();
    spec.commandLine().getOut().println(what + ": '" + text + "'");
    if (!text.equals(expected)) {
      throw new IOException(what + " '" + text + "' instead of '" + expected + "'");
    }
  }
}
