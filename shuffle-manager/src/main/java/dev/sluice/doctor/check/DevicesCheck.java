package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.verbs.VerbsSurvey;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Devices and ports, and the port and GID that an executor would take, with the reason. */
record DevicesCheck(Patient patient) implements Check {
  private static final String PORT = "port";

  @Override
  public String name() {
    return "devices";
  }

  @Override
  public List<Finding> findings() throws IOException {
    try {
      return of(VerbsSurvey.of(patient.rdma().verbs(), patient.address()));
    } catch (ProviderUnavailableException e) {
      return List.of(
          Finding.warn(name(), e.getMessage(), "nothing, where blocks are to go by software"));
    }
  }

  private List<Finding> of(VerbsSurvey survey) {
    List<Finding> findings = new ArrayList<>();
    survey.devices().forEach(device -> findings.add(Finding.ok(name(), device)));
    survey.excluded().forEach(port -> findings.add(Finding.ok(PORT, port)));
    boolean usable = survey.chosen().isPresent();
    for (String refused : survey.refused()) {
      findings.add(
          usable ? Finding.ok(PORT, refused) : Finding.fail(PORT, refused, remedy(refused)));
    }
    if (!usable && survey.refused().isEmpty()) {
      findings.add(
          Finding.fail(
              PORT, "none is left to choose from", "spark.shuffle.rdma.devices, NCCL_IB_HCA"));
    }
    survey.chosen().ifPresent(chosen -> findings.add(Finding.ok(PORT, chosen)));
    survey.doubt().ifPresent(doubt -> findings.add(doubted(doubt)));
    return findings;
  }

  private static Finding doubted(String doubt) {
    return Finding.warn(
        "gid",
        "the GID that was asked for by its index is " + doubt,
        "spark.shuffle.rdma.gid.index=auto, and no NCCL_IB_GID_INDEX in the environment");
  }

  /** By what the port's reason says. */
  private static String remedy(String refused) {
    if (refused.contains("GID")) {
      return "spark.shuffle.rdma.gid.*, NCCL_IB_GID_INDEX; ip addr: a GID is an address of the"
          + " port's network device";
    }
    if (refused.contains("and not ACTIVE")) {
      return "cable, switch, ip link set ... up; on InfiniBand the subnet manager";
    }
    if (refused.contains("cannot be opened")) {
      return "permissions, and --device=/dev/infiniband of the container";
    }
    return "docs/troubleshooting.md, Verbs do not work";
  }
}
