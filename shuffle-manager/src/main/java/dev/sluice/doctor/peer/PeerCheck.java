package dev.sluice.doctor.peer;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.check.Check;
import dev.sluice.doctor.check.Checkup;
import dev.sluice.doctor.check.Patient;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.transfer.PeerAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** READs from a node on which a doctor serves. */
public record PeerCheck(Patient patient, PeerAddress peer) implements Check {
  @Override
  public String name() {
    return "peer";
  }

  @Override
  public List<Finding> findings() throws IOException {
    try (PeerReader reader = new PeerReader(patient)) {
      return of(reader.read(peer));
    } catch (PeerException e) {
      return List.of(
          Finding.fail(name(), "no READ from " + peer.host() + ": " + e.getMessage(), e.set()));
    } catch (ProviderUnavailableException e) {
      return List.of(Finding.fail(name(), e.getMessage(), Checkup.VERBS_DO_NOT_WORK));
    }
  }

  private List<Finding> of(PeerReader.Measured measured) {
    List<Finding> findings = new ArrayList<>();
    findings.add(
        Finding.ok(
            name(),
            "READ from %s (%s): %.0f MB/s, %.1f us"
                .formatted(
                    peer.host(),
                    measured.device(),
                    measured.bytesPerSecond() / 1e6,
                    measured.micros())));
    if (measured.localMtu() != measured.remoteMtu()) {
      findings.add(
          Finding.warn(
              "mtu",
              "MTU is %d here and %d at %s: the smaller one counts"
                  .formatted(measured.localMtu(), measured.remoteMtu(), peer.host()),
              "the same MTU on both network devices, and on the switch"));
    }
    return findings;
  }
}
