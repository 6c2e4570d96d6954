package dev.sluice.rdma.tools;

import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * How a measurement goes: both sides meet, the client says what is to be done, they connect, and
 * when the client is through, the server may go, too. Used by one thread.
 */
final class PerfSession {
  private final DeviceOptions device;
  private final TcpOptions tcp;
  private final PerfParameters.Test test;

  /** The client's parameters, for a port. */
  interface Parameters {
    PerfParameters of(LocalPort port) throws IOException;
  }

  /** One side of the measurement. */
  interface Side {
    void run(PerfEndpoint endpoint) throws IOException;
  }

  PerfSession(DeviceOptions device, TcpOptions tcp, PerfParameters.Test test) {
    this.device = device;
    this.tcp = tcp;
    this.test = test;
  }

  void run(Parameters parameters, Side client, Side server) throws IOException {
    try (Arena arena = Arena.ofShared();
        LocalPort port = device.open();
        Rendezvous peer = tcp.meet()) {
      PerfParameters agreed = agree(parameters, port, peer);
      PerfEndpoint endpoint = new PerfEndpoint(port, arena, agreed, tcp.deadline());
      endpoint.connect(peer);
      (tcp.isClient() ? client : server).run(endpoint);
      peer.sync("that it is done");
      if (tcp.isClient() == (agreed.operation() == PerfOperation.READ)) {
        endpoint.check();
      }
    }
  }

  private PerfParameters agree(Parameters parameters, LocalPort port, Rendezvous peer)
      throws IOException {
    if (!tcp.isClient()) {
      byte[] wire = peer.read(PerfParameters.WIRE_LENGTH, "what to measure");
      return PerfParameters.fromWire(wire, test);
    }
    PerfParameters agreed = parameters.of(port);
    peer.write(agreed.toWire());
    return agreed;
  }
}
