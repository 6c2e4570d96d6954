package dev.sluice.doctor.peer;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.Patient;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.ThreadLocalRandom;

/**
 * This node's end of READs from other nodes' doctors. Whoever opens it closes it; READs from one
 * peer at a time, on the caller's thread.
 */
public final class PeerReader implements AutoCloseable {
  private final PeerClient client = new PeerClient();
  private final RdmaEndpoint endpoint;

  /**
   * What READs from a peer take.
   *
   * @param bytesPerSecond of large ones
   * @param micros of a small one
   * @param localMtu bytes of a packet that the port here takes
   * @param remoteMtu that the peer's takes
   */
  public record Measured(
      String device, double bytesPerSecond, double micros, int localMtu, int remoteMtu) {}

  public PeerReader(Patient patient) throws IOException {
    endpoint = RdmaEndpoint.open(patient.open(), Reading.options(patient), client);
  }

  /**
   * Leaves no queue pair behind: those of hundreds of readers would be more than the peer may have.
   *
   * @throws PeerException where READs do not work, with what is known of the reason
   */
  public Measured read(PeerAddress peer) throws PeerException {
    try {
      return readAll(peer);
    } finally {
      endpoint.peerLost(peer.id());
    }
  }

  private Measured readAll(PeerAddress peer) throws PeerException {
    Description remote = describe(peer);
    String provider = endpoint.device().providerName();
    if (!remote.provider().equals(provider)) {
      throw new PeerException(
          "it has provider %s, and this one %s".formatted(remote.provider(), provider),
          "what its doctor says of its provider, or this one's");
    }
    Reading reading = new Reading(endpoint, peer, remote.region());
    if (!checkSmall(reading, peer, remote) || !checkLarge(reading)) {
      throw new PeerException(
          "READs bring wrong bytes", "report it: a defect of Sluice, a driver or an adapter");
    }
    return measure(reading, remote);
  }

  private Measured measure(Reading reading, Description remote) throws PeerException {
    try {
      double micros = reading.latencyMicros();
      return new Measured(
          remote.provider() + " " + remote.device(),
          reading.bandwidth(),
          micros,
          client.localMtu(),
          client.remoteMtu());
    } catch (IOException e) {
      throw new PeerException(
          "single READs arrive, and do not go on: " + Finding.reason(e),
          "cable, PFC and ECN of the ports between; counters of drops and pauses",
          e);
    }
  }

  private boolean checkSmall(Reading reading, PeerAddress peer, Description remote)
      throws PeerException {
    try {
      return reading.check(Reading.SMALL_BYTES);
    } catch (IOException e) {
      throw new PeerException(
          Finding.reason(e) + direction(peer, remote),
          "firewall (RoCE v2 is UDP port 4791), routes and VLAN between the GIDs' addresses",
          e);
    }
  }

  private boolean checkLarge(Reading reading) throws PeerException {
    try {
      return reading.check(Reading.LARGE_BYTES);
    } catch (IOException e) {
      throw new PeerException(
          "small READs arrive, and large ones do not: something on the way takes smaller packets"
              + " than the MTU of %d bytes (%s)".formatted(mtu(), Finding.reason(e)),
          "MTU of the switch ports and network devices between, or spark.shuffle.rdma.pathMtu",
          e);
    }
  }

  /** Bytes of a packet that the port here takes; 0 before something was READ. */
  public int localMtu() {
    return client.localMtu();
  }

  private int mtu() {
    return Math.min(client.localMtu(), client.remoteMtu());
  }

  private Description describe(PeerAddress peer) throws PeerException {
    try {
      return client.describe(peer);
    } catch (IOException e) {
      throw new PeerException(
          "no doctor answers by TCP at port %d: %s".formatted(peer.port(), Finding.reason(e)),
          "doctor --serve there; --peer; firewall",
          e);
    }
  }

  /** In which direction nothing arrives, where that can be told. */
  private String direction(PeerAddress peer, Description remote) {
    if (remote.echoPort() == 0) {
      return "";
    }
    long id = ThreadLocalRandom.current().nextLong();
    InetAddress local = endpoint.device().gid().toInetAddress();
    InetAddress there = remote.gid().toInetAddress();
    String here = local.getHostAddress();
    if (local.isLinkLocalAddress()) {
      return "; the GID here, %s, is link-local".formatted(here);
    }
    try {
      if (Echo.answers(local, there, remote.echoPort(), id)) {
        return "; datagrams go both ways: look at UDP port 4791, and at packets lost";
      }
      return client.heard(peer, id)
          ? "; one way only: packets arrive there, and none comes back from %s to %s"
              .formatted(there.getHostAddress(), here)
          : "; packets from %s do not arrive at %s".formatted(here, there.getHostAddress());
    } catch (IOException e) {
      return "; from %s to %s: %s".formatted(here, there.getHostAddress(), Finding.reason(e));
    }
  }

  @Override
  public void close() {
    endpoint.close();
  }
}
