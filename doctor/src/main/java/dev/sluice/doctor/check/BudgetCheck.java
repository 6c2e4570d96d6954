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
 * @param pins true if registered map outputs take memory
 */
record BudgetCheck(MemoryBudget budget, long overheadBytes, boolean pins) implements Check {
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
    return List.of(
        judged(said)
            .with("overhead_bytes", overheadBytes)
            .with("registration_bytes", budget.registrationBytes())
            .with("buffer_bytes", budget.bufferBytes())
            .with("staging_bytes", budget.stagingBytes()));
  }

  private Finding judged(String said) {
    if (budget.isLeast()) {
      Finding least = Finding.warn(name(), said, RAISE).causedBy(List.of(CgroupCheck.NAME), said);
      // With the overhead that Spark derives at least, another setting is the cause.
      return overheadBytes < SparkUnits.bytes(ExecutorMemory.LEAST_OVERHEAD)
          ? least.mendedBy(FixLine.setting(ExecutorMemory.OVERHEAD, ExecutorMemory.LEAST_OVERHEAD))
          : least;
    }
    long taken = budget.lockedBytes() - (pins ? 0 : budget.registrationBytes());
    return taken > overheadBytes
        ? Finding.warn(name(), said + ", which is less", RAISE + ", or lower limits that are set")
        : Finding.ok(name(), said);
  }
}
