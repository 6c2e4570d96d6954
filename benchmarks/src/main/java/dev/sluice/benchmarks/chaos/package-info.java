/**
 * The command bin/chaos: workloads under faults, beside the stock shuffle's answer. {@link
 * ChaosRuns} asks driver processes, {@link ChaosJob} is the one that is asked, and {@link ChaosRun}
 * says what is wrong with a run.
 */
package dev.sluice.benchmarks.chaos;
