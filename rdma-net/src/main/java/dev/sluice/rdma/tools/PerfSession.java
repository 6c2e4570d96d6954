package dev.sluice.rdma.tools;

import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * Both sides have met, and measure as often as they like: the client says what is to be done, they
 * connect, and when the client is through, the server may go on, too. Used by one thread.
 */
record PerfSession(Arena arena, LocalPort port, Rendezvous peer, TcpOptions tcp) {
  /** The client's parameters, for a port. */
  interface Parameters {
    PerfParameters of(LocalPort port) throws IOException;
  }

  /** One side of the measurement. */
  interface Side {
    void run(PerfEndpoint endpoint) throws IOException;
  }

  /** What is done while both sides have each other. */
  interface Body {
    void run(PerfSession session) throws IOException;
  }

  /** Opens the device, meets the other side, and closes all when the body has run. */
  static void open(DeviceOptions device, TcpOptions tcp, Body body) throws IOException {
    try (Arena arena = Arena.ofShared();
        LocalPort port = device.open();
        Rendezvous peer = tcp.meet()) {
      body.run(new PerfSession(arena, port, peer, tcp));
    }
  }

  void run(PerfParameters.Test test, Parameters parameters, Side client, Side server)
      throws IOException {
    PerfParameters agreed = agree(test, parameters);
    PerfEndpoint endpoint = new PerfEndpoint(port, arena, agreed, tcp.deadline());
    endpoint.connect(peer);
    (tcp.isClient() ? client : server).run(endpoint);
    peer.sync("that it is done");
    if (tcp.isClient() == (agreed.operation() == PerfOperation.READ)) {
      endpoint.check();
    }
  }

  private PerfParameters agree(PerfParameters.Test test, Parameters parameters) throws IOException {
    if (!tcp.isClient()) {
      byte[] wire = peer.read(PerfParameters.WIRE_LENGTH, "what to measure");
      return PerfParameters.fromWire(wire, test);
    }
    PerfParameters agreed = parameters.of(port);
    peer.write(agreed.toWire());
    return agreed;
  }
}
