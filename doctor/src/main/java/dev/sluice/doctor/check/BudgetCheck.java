// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.doctor.Finding;
import java.util.List;

/** Check of the memory that an executor takes for each purpose. */
record BudgetCheck(MemoryBudget budget) implements Check {
  @Override
  public String name() {
    return "budget";
  }

  @Override
  public List<Finding> findings() {
    String said =
        "%d MiB for map outputs, %d MiB for buffers, %d MiB for staging"
            .formatted(
                budget.registrationBytes() >> 20,
                budget.bufferBytes() >> 20,
                budget.stagingBytes() >> 20);
    Finding finding =
        budget.isLeast()
            ? Finding.warn(
                    name(), said, "raise spark.executor.memoryOverhead (docs/sizing.md, Memory)")
                .causedBy(List.of(CgroupCheck.NAME), said)
            : Finding.ok(name(), said);
    return List.of(
        finding
            .with("registration_bytes", budget.registrationBytes())
            .with("buffer_bytes", budget.bufferBytes())
            .with("staging_bytes", budget.stagingBytes()));
  }
}
