// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.ProviderUnavailableException;
import java.io.IOException;
import java.util.List;

/**
 * Check of the provider that an executor would take. It opens a device of it, and closes it at
 * once. Other checks that need a device open their own. {@link Checks} makes it, and {@link
 * CheckRunner} asks it once, on a thread of its own.
 */
record ProviderCheck(CheckContext context) implements Check {
  static final String NAME = "provider";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Finding> findings() throws IOException {
    String verbsFail = context.rdma().triesVerbs() ? verbsFail() : "it is set by name";
    if (verbsFail.isEmpty()) {
      return List.of(Finding.ok(name(), VerbsProvider.NAME).with(NAME, VerbsProvider.NAME));
    }
    if (context.rdma().provider().equals(VerbsProvider.NAME)) {
      return List.of(
          Finding.fail(name(), "verbs do not work: " + verbsFail, CheckRunner.VERBS_DO_NOT_WORK)
              .with("reason", verbsFail)
              .causedBy(Checks.VERBS_CAUSES, "provider verbs does not work"));
    }
    new SoftProvider(context.rdma().soft()).open(context.address()).close();
    Finding soft =
        context.rdma().triesVerbs()
            ? Finding.warn(
                    name(),
                    "soft, because verbs do not work: " + verbsFail,
                    CheckRunner.VERBS_DO_NOT_WORK)
                .causedBy(Checks.VERBS_CAUSES, "provider is soft")
            : Finding.ok(name(), "soft: " + verbsFail);
    return List.of(soft.with(NAME, SoftProvider.NAME).with("reason", verbsFail));
  }

  /** Returns why verbs cannot be used; empty if they can. */
  private String verbsFail() throws IOException {
    try (Device _ = new VerbsProvider(context.rdma().verbs()).open(context.address())) {
      return "";
    } catch (ProviderUnavailableException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
