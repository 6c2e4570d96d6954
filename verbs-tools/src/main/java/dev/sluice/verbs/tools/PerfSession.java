// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Rendezvous;
import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * A measurement between two sides that connect over TCP. The client sends its parameters, both
 * sides connect their queue pairs, and at the end each side waits for the other. {@link
 * BandwidthCommand} and {@link LatencyCommand} run it once, on one thread, which opens and closes
 * port, memory and connection.
 */
record PerfSession(DeviceOptions device, TcpOptions tcp) {
  /** Computes the client's parameters for a port. */
  interface Parameters {
    PerfParameters of(LocalPort port) throws IOException;
  }

  /** One side of the measurement. */
  interface Side {
    void run(PerfEndpoint endpoint) throws IOException;
  }

  void run(PerfParameters.Test test, Parameters parameters, Side client, Side server)
      throws IOException {
    try (Arena arena = Arena.ofShared();
        LocalPort port = device.open();
        Rendezvous peer = tcp.meet()) {
      PerfParameters agreed;
      if (tcp.isClient()) {
        agreed = parameters.of(port);
        peer.write(agreed.toWire());
      } else {
        byte[] wire = peer.read(PerfParameters.WIRE_LENGTH, "its parameters");
        agreed = PerfParameters.fromWire(wire, test);
      }
      PerfEndpoint endpoint = new PerfEndpoint(port, arena, agreed, tcp.deadline());
      endpoint.connect(peer);
      (tcp.isClient() ? client : server).run(endpoint);
      peer.sync("that it is done");
      if (tcp.isClient() == agreed.operation().fetches()) {
        endpoint.check();
      }
    }
  }
}
