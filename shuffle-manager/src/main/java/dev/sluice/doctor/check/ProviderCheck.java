package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.verbs.VerbsProvider;
import java.io.IOException;
import java.util.List;

/** The provider that an executor would take, by opening it. */
record ProviderCheck(Patient patient) implements Check {
  @Override
  public String name() {
    return "provider";
  }

  @Override
  public List<Finding> findings() throws IOException {
    String verbsFail = patient.rdma().triesVerbs() ? verbsFail() : "it was asked for";
    if (verbsFail.isEmpty()) {
      return List.of(Finding.ok(name(), VerbsProvider.NAME));
    }
    if (patient.rdma().provider().equals(VerbsProvider.NAME)) {
      return List.of(
          Finding.fail(name(), "verbs do not work: " + verbsFail, Checkup.VERBS_DO_NOT_WORK));
    }
    new SoftProvider(patient.rdma().soft()).open(patient.address()).close();
    return List.of(
        patient.rdma().triesVerbs()
            ? Finding.warn(
                name(), "soft, because verbs do not work: " + verbsFail, Checkup.VERBS_DO_NOT_WORK)
            : Finding.ok(name(), "soft: " + verbsFail));
  }

  /** Why verbs cannot be used; empty where they can. */
  private String verbsFail() throws IOException {
    try (Device _ = new VerbsProvider(patient.rdma().verbs()).open(patient.address())) {
      return "";
    } catch (ProviderUnavailableException e) {
      return e.getMessage();
    }
  }
}
