// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.deployment.Deployment;
import dev.sluice.spark.deployment.Deployment.Result;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The doctor as a job on two hosts, which are the two ends of the test bed's cable. */
@NeedsRdmaDevice
@Cable.Needed
final class DoctorMeshLongIT {
  private static final String FIRST = "10.77.0.1";
  private static final String SECOND = "10.77.0.2";
  private static final Map<String, String> VERBS = Map.of("spark.shuffle.rdma.provider", "verbs");

  @Test
  void readsByVerbsBetweenTheHostsAndNamesFaults() throws Exception {
    Cable cable = new Cable();
    try (Deployment deployment = Deployment.startOnHosts("doctor-verbs", FIRST, SECOND)) {
      Result healthy = deployment.submitDoctor("mesh", VERBS, List.of(), "--mesh");
      assertThat(healthy.log())
          .containsPattern("ok +provider +verbs\\s")
          .containsPattern("ok +port +rxe0:1.*" + FIRST)
          .containsPattern("ok +port +rxe1:1.*" + SECOND)
          .containsPattern("ok +mesh +2 pairs READ, median \\d+ MB/s");
      assertThat(healthy.exitCode()).as(healthy.end()).isLessThan(2);

      cable.suffer(Cable.Fault.NARROW);
      Result narrow = deployment.submitDoctor("narrow", VERBS, List.of(), "--mesh");
      assertThat(narrow.log())
          .containsPattern("warn +mtu +MTU is 1024 on " + SECOND + "; 4096 on " + FIRST);
      assertThat(narrow.exitCode()).as(narrow.end()).isEqualTo(1);
      cable.mend();

      cable.suffer(Cable.Fault.ONE_WAY);
      Result broken = deployment.submitDoctor("broken", VERBS, List.of(), "--mesh");
      assertThat(broken.log())
          .containsPattern(
              "fail +mesh +" + SECOND + " from " + FIRST + ": .*\\s+fix: check firewall")
          .containsPattern(
              "fail +mesh +" + FIRST + " from " + SECOND + ": .*\\s+fix: check firewall");
      assertThat(broken.exitCode()).as(broken.end()).isEqualTo(2);
    } finally {
      cable.mend();
    }
  }
}
