// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.check;

import dev.sluice.blocks.conf.ExecutorMemory;
import dev.sluice.blocks.conf.MemoryBudget;
import dev.sluice.blocks.conf.SparkUnits;
import dev.sluice.doctor.Finding;
import dev.sluice.doctor.FixLine;
import java.util.List;

/**
 * Check of the memory that an executor takes for each purpose.
 *
 * @param overheadBytes memory overhead of an executor, of which it is a share
 */
record BudgetCheck(MemoryBudget budget, long overheadBytes) implements Check {
  private static final String RAISE =
      "raise " + ExecutorMemory.OVERHEAD + " (docs/sizing.md, Memory)";

  @Override
  public String name() {
    return "budget";
  }

  @Override
  public List<Finding> findings() {
    String said =
        "%d MiB for map outputs, %d MiB for buffers, %d MiB for staging; the overhead is %d MiB"
            .formatted(
                budget.registrationBytes() >> 20,
                budget.bufferBytes() >> 20,
                budget.stagingBytes() >> 20,
                overheadBytes >> 20);
    Finding finding =
        budget.isLeast()
            ? mended(Finding.warn(name(), said, RAISE).causedBy(List.of(CgroupCheck.NAME), said))
            : Finding.ok(name(), said);
    return List.of(
        finding
            .with("overhead_bytes", overheadBytes)
            .with("registration_bytes", budget.registrationBytes())
            .with("buffer_bytes", budget.bufferBytes())
            .with("staging_bytes", budget.stagingBytes()));
  }

  /** Adds a line if the overhead is less than Spark's least one, which is then the cause. */
  private Finding mended(Finding finding) {
    String least = ExecutorMemory.LEAST_OVERHEAD;
    return overheadBytes < SparkUnits.bytes(least)
        ? finding.mendedBy(FixLine.setting(ExecutorMemory.OVERHEAD, least))
        : finding;
  }
}
