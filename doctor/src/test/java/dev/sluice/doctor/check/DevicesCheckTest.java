// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.doctor.Finding;
import dev.sluice.doctor.Finding.Level;
import dev.sluice.doctor.FixLine;
import dev.sluice.rdma.verbs.VerbsSurvey;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Findings about the ports of a survey. */
class DevicesCheckTest {
  private static final String PORT = "mlx5_0:1";

  private static List<Finding> findings(
      Optional<String> chosen, Optional<VerbsSurvey.Doubt> doubt, Refusal... refused) {
    return DevicesCheck.of(
        new VerbsSurvey(List.of("mlx5_0, firmware 1"), List.of(refused), chosen, doubt));
  }

  /** A driver's message in a reason may have any word, such as GID. */
  @ParameterizedTest
  @CsvSource({
    "FOREIGN_GID, hostNetwork",
    "NO_GID, spark.shuffle.rdma.gid.*",
    "NOT_ACTIVE, check cable and switch",
    "NOT_OPENED, --device=/dev/infiniband",
    "OTHER, docs/troubleshooting.md"
  })
  void theRemedyFollowsFromTheKindOfTheReason(Refusal.Kind kind, String remedy) {
    String reason = "of another network namespace: its GID cannot be opened and not ACTIVE";
    List<Finding> findings =
        findings(Optional.empty(), Optional.empty(), new Refusal(PORT, kind, reason));
    assertThat(findings).extracting(Finding::level).containsExactly(Level.OK, Level.FAIL);
    assertThat(findings.getLast().said()).isEqualTo(PORT + " " + reason);
    assertThat(findings.getLast().set()).contains(remedy);
    assertThat(findings.getLast().cause().names())
        .isEqualTo(kind == Refusal.Kind.NOT_OPENED ? List.of(DeviceFilesCheck.NAME) : List.of());
  }

  @Test
  void portsThatAreLeftOutOrNotNeededAreNoFailure() {
    Refusal excluded = new Refusal("mlx5_1:1", Refusal.Kind.EXCLUDED, "is not among the devices");
    Refusal down = new Refusal("mlx5_2:1", Refusal.Kind.NOT_ACTIVE, "is DOWN and not ACTIVE");
    assertThat(findings(Optional.of(PORT), Optional.empty(), down, excluded))
        .extracting(Finding::said)
        .containsExactly(
            "mlx5_0, firmware 1",
            "mlx5_1:1 is not among the devices",
            "mlx5_2:1 is DOWN and not ACTIVE",
            PORT);
    Finding left = findings(Optional.empty(), Optional.empty(), excluded).getLast();
    assertThat(left.level()).isEqualTo(Level.FAIL);
    assertThat(left.set()).contains("spark.shuffle.rdma.devices");
  }

  @Test
  void aDoubtIsAWarningWithARemedy() {
    VerbsSurvey.Doubt foreign = new VerbsSurvey.Doubt(true, "of another");
    VerbsSurvey.Doubt old = new VerbsSurvey.Doubt(false, "RoCE v1 and not RoCE v2");
    assertThat(findings(Optional.of(PORT), Optional.of(foreign)).getLast().set())
        .contains("hostNetwork");
    Finding ofOld = findings(Optional.of(PORT), Optional.of(old)).getLast();
    assertThat(ofOld.set()).contains("gid.index=auto");
    assertThat(ofOld.lines())
        .containsExactly(FixLine.setting("spark.shuffle.rdma.gid.index", "auto"));
  }
}
