// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.CheckContext;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.ThreadLocalRandom;

/**
 * This node's end of READs from other nodes' doctors. {@link PeerCheck} or {@code ExecutorMeshNode}
 * opens and closes it. READs from one peer at a time, on the caller's thread. It owns an endpoint
 * with a device.
 */
public final class PeerReader implements AutoCloseable {
  private final PeerClient client = new PeerClient();
  private final RdmaEndpoint endpoint;

  /**
   * Figures of READs from a peer.
   *
   * @param bytesPerSecond bandwidth of large READs
   * @param micros latency of a small READ in microseconds
   * @param localMtu MTU of the port here in bytes
   * @param remoteMtu MTU of the peer's port in bytes
   * @param link rate of the slower port
   */
  public record Measured(
      String device,
      double bytesPerSecond,
      double micros,
      int localMtu,
      int remoteMtu,
      LinkRate link) {}

  private final LinkRate localRate;
  private final boolean hasLostVerbs;

  public PeerReader(CheckContext context) throws IOException {
    endpoint = RdmaEndpoint.open(context.open(), Reading.options(context), client);
    localRate = LinkRate.of(context.root(), endpoint.device());
    hasLostVerbs =
        context.rdma().triesVerbs() && !endpoint.device().providerName().equals(VerbsProvider.NAME);
  }

  /**
   * READs from a peer, and measures that. Leaves no queue pair behind: those of hundreds of readers
   * would be more than the peer may have.
   *
   * @throws PeerException if READs do not work, with the known part of the reason
   * @throws ProviderUnavailableException if verbs do not work here, and the peer has them
   */
  public Measured read(PeerAddress peer) throws PeerException, ProviderUnavailableException {
    try {
      return readAll(peer);
    } finally {
      endpoint.peerLost(peer.id());
    }
  }

  private Measured readAll(PeerAddress peer) throws PeerException, ProviderUnavailableException {
    Description remote = describe(peer);
    String provider = endpoint.device().providerName();
    if (!remote.provider().equals(provider)) {
      if (hasLostVerbs) {
        throw new ProviderUnavailableException(
            "%s has provider %s, and this node has %s"
                .formatted(peer.host(), remote.provider(), provider));
      }
      throw new PeerException(
          "it has provider %s, and this node has %s".formatted(remote.provider(), provider),
          "see what the doctor of either node says about its provider");
    }
    Reading reading = new Reading(endpoint, peer, remote.region());
    if (!checkSmall(reading, peer, remote) || !checkLarge(reading)) {
      throw new PeerException(
          "READs deliver wrong bytes", "report it: a defect of Sluice, a driver or an adapter");
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
          client.remoteMtu(),
          localRate.slower(remote.rate()));
    } catch (IOException e) {
      throw new PeerException(
          "single READs succeed, but a series of them fails: " + Finding.reason(e),
          "check cable, PFC and ECN of the ports between, and counters of drops and pauses",
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
          "check firewall (RoCE v2 is UDP port 4791), routes and VLAN between the GIDs' addresses",
          e);
    }
  }

  private boolean checkLarge(Reading reading) throws PeerException {
    try {
      return reading.check(Reading.LARGE_BYTES);
    } catch (IOException e) {
      throw new PeerException(
          "small READs succeed, but large ones fail: a hop on the way takes only packets smaller"
              + " than the MTU of %d bytes (%s)".formatted(mtu(), Finding.reason(e)),
          "raise the MTU of the switch ports and network devices between, or lower"
              + " spark.shuffle.rdma.pathMtu",
          e);
    }
  }

  /** Returns the MTU of the port here in bytes; 0 before the first READ. */
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
          "no doctor answers on TCP port %d: %s".formatted(peer.port(), Finding.reason(e)),
          "run doctor --serve there; check --peer and the firewall",
          e);
    }
  }

  /** Returns the direction in which packets are lost, if that can be told. */
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
        return "; other datagrams go both ways: check UDP port 4791, and lost packets";
      }
      return client.heard(peer, id)
          ? "; one way only: packets arrive there, but none comes back from %s to %s"
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
