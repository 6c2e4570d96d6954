// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.verbs.VerbsSurvey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Check of devices and ports. Shows the port and GID that an executor would take, and why. It
 * chooses a remedy by words in the reasons of {@link VerbsSurvey}, so change both together.
 */
record DevicesCheck(CheckContext context) implements Check {
  static final String NAME = "devices";
  static final String PORT = "port";

  private static final String NOT_OPENED = "cannot be opened";
  private static final String NAMESPACE = "network namespace";
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

  private List<Finding> of(VerbsSurvey survey) {
    List<Finding> findings = new ArrayList<>();
    survey.devices().forEach(device -> findings.add(Finding.ok(name(), device)));
    survey.excluded().forEach(port -> findings.add(Finding.ok(PORT, port)));
    boolean usable = survey.chosen().isPresent();
    for (String refused : survey.refused()) {
      findings.add(usable ? Finding.ok(PORT, refused) : unusable(refused));
    }
    if (!usable && survey.refused().isEmpty()) {
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
  private static Finding unusable(String refused) {
    Finding finding = Finding.fail(PORT, refused, remedy(refused));
    return refused.contains(NOT_OPENED)
        ? finding.causedBy(
            List.of(DeviceFilesCheck.NAME), refused.split(" ", 2)[0] + " is not used")
        : finding;
  }

  private static Finding doubted(String doubt) {
    return Finding.warn(
        "gid",
        "the configured GID is " + doubt,
        doubt.contains(NAMESPACE)
            ? OWN_GID
            : "set spark.shuffle.rdma.gid.index=auto, and remove NCCL_IB_GID_INDEX from the"
                + " environment");
  }

  /** Returns the remedy for the reason why the port was refused. */
  private static String remedy(String refused) {
    if (refused.contains(NAMESPACE)) {
      return OWN_GID + "; or name the port in spark.shuffle.rdma.devices to use the host's GID";
    }
    if (refused.contains("GID")) {
      return "check spark.shuffle.rdma.gid.* and NCCL_IB_GID_INDEX; see ip addr, as a GID is an"
          + " address of the port's network device";
    }
    if (refused.contains("and not ACTIVE")) {
      return "check cable and switch, run ip link set ... up; on InfiniBand check the subnet"
          + " manager";
    }
    if (refused.contains(NOT_OPENED)) {
      return "check permissions, and --device=/dev/infiniband of the container";
    }
    return "see docs/troubleshooting.md, Verbs do not work";
  }
}
