// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.conf.ExecutorSettings;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import dev.sluice.rdma.verbs.VerbsSurvey;
import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Check of devices and ports. Shows the port and GID that an executor would take, and why. It
 * chooses a remedy by the kind of a {@link Refusal}. {@link Checks} makes it, and {@link
 * CheckRunner} asks it once, on a thread of its own.
 */
record DevicesCheck(CheckContext context) implements Check {
  static final String NAME = "devices";
  static final String PORT = "port";

  private static final String GID_INDEX = ExecutorSettings.PREFIX + "gid.index";

  private static final String OWN_GID =
      "give this container a network device of its own at the RDMA port (a virtual function,"
          + " macvlan), or the host's network (hostNetwork)";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() throws IOException {
    return of(VerbsSurvey.of(context.rdma().verbs(), context.address()));
  }

  static List<Finding> of(VerbsSurvey survey) {
    Map<Boolean, List<Refusal>> refusals =
        survey.refused().stream()
            .collect(Collectors.partitioningBy(r -> r.kind() == Refusal.Kind.EXCLUDED));
    List<Refusal> refused = requireNonNull(refusals.get(false));
    List<Finding> findings = new ArrayList<>();
    survey.devices().forEach(device -> findings.add(Finding.ok(NAME, device)));
    requireNonNull(refusals.get(true))
        .forEach(port -> findings.add(Finding.ok(PORT, port.words())));
    boolean usable = survey.chosen().isPresent();
    for (Refusal port : refused) {
      findings.add(usable ? Finding.ok(PORT, port.words()) : unusable(port));
    }
    if (!usable && refused.isEmpty()) {
      findings.add(
          Finding.fail(
              PORT,
              "no port is left to choose from",
              "change spark.shuffle.rdma.devices or NCCL_IB_HCA"));
    }
    survey.chosen().ifPresent(chosen -> findings.add(Finding.ok(PORT, chosen)));
    survey.doubt().ifPresent(doubt -> findings.add(doubted(doubt)));
    return findings;
  }

  /** Makes the finding about a refused port. Device files explain one that cannot be opened. */
  private static Finding unusable(Refusal refused) {
    Finding finding = Finding.fail(PORT, refused.words(), remedy(refused.kind()));
    return refused.kind() == Refusal.Kind.NOT_OPENED
        ? finding.causedBy(List.of(DeviceFilesCheck.NAME), refused.name() + " is not used")
        : finding;
  }

  private static Finding doubted(VerbsSurvey.Doubt doubt) {
    String said = "the configured GID is " + doubt.reason();
    return doubt.isForeign()
        ? Finding.warn("gid", said, OWN_GID)
        : Finding.warn(
                "gid",
                said,
                "set " + GID_INDEX + "=auto, and remove NCCL_IB_GID_INDEX from the environment")
            .mendedBy(FixLine.setting(GID_INDEX, "auto"));
  }

  /** Returns the remedy for the reason why the port was refused. */
  private static String remedy(Refusal.Kind kind) {
    return switch (kind) {
      case FOREIGN_GID ->
          OWN_GID + "; or name the port in spark.shuffle.rdma.devices to use the host's GID";
      case NO_GID ->
          "check spark.shuffle.rdma.gid.* and NCCL_IB_GID_INDEX; see ip addr, as a GID is an"
              + " address of the port's network device";
      case NOT_ACTIVE ->
          "check cable and switch, run ip link set ... up; on InfiniBand check the subnet"
              + " manager";
      case NOT_OPENED -> "check permissions, and --device=/dev/infiniband of the container";
      case EXCLUDED, OTHER -> "see docs/troubleshooting.md, Verbs do not work";
    };
  }
}
