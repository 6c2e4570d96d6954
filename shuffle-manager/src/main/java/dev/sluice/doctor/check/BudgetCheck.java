package dev.sluice.doctor.check;

import dev.sluice.doctor.Finding;
import dev.sluice.spark.conf.MemoryBudget;
import java.util.List;

/** What the budget comes to. */
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
    return List.of(
        budget.isLeast()
            ? Finding.warn(
                name(), said, "spark.executor.memoryOverhead (docs/deployment.md, Sizing)")
            : Finding.ok(name(), said));
  }
}
